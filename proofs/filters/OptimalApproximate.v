(* Optimal composition with deltas ([MV16]; [VW21] Thm 5.6, 5.7; [HSV25] Thm 4.10, 4.12) for interactive and continual
   mechanisms: parameters (e_j, d_j) fixed in advance cost, at E, exactly 1 - product of (1 - d_j) * (1 - excess),
   where the excess is the sum of max(0, P(c) - E P'(c)) over all lists c of responses. *)
From Odometry Require Export ReductionApproximate OptimalPure.
From Coq Require Import Lia Setoid Morphisms.

Notation budget := (list (Q * Q)).
(* The product of (1 - delta_j). *)
Definition whole (es : budget) : Q := product_of (fun p => 1 - snd p) es.

(* The optimal delta at E for parameters (e_j, delta_j): 1 - product of (1 - delta_j) * (1 - excess) ([VW21] Thm 5.6).
   *)
Definition exact (E : Q) (es : budget) : Q := 1 - whole es * (1 - excess E (map fst es)).

(* All parameters are sensible: e at least 1, delta from 0 to 1. *)
Definition proper (es : budget) : Prop := forall p, In p es -> 1 <= fst p /\ 0 <= snd p <= 1.

Lemma whole_ok es : proper es -> 0 <= whole es <= 1.
Proof.
  induction es as [|p es IH]; intros H; cbn; [lra|]. assert (I := IH (fun x Hx => H x (or_intror Hx))).
  unfold whole in *.
  destruct (H p (or_introl eq_refl)) as [_ [? ?]]. split; nra.
Qed.

(* Each pair may be used once, in any order. *)
Definition same_pair (p p' : Q * Q) : bool := Qeq_bool (fst p) (fst p') && Qeq_bool (snd p) (snd p').

(* The list without its first entry that equals p; None if there is none. *)
Fixpoint take2 (p : Q * Q) (es : budget) : option budget :=
  match es with [] => None | p' :: es => if same_pair p p' then Some es else option_map (cons p') (take2 p es) end.

Lemma take2_in p es : forall es', take2 p es = Some es' -> forall x, In x es' -> In x es.
Proof.
  induction es as [|p' es IH]; intros es' H x I; [discriminate|]. cbn in H.
  destruct same_pair; [injection H as <-; now right|].
  destruct (take2 p es) as [es1|]; [|discriminate]. injection H as <-.
  destruct I as [->|I]; [now left|right; now apply (IH es1)].
Qed.

Lemma take2_whole p es : forall es', take2 p es = Some es' -> whole es == (1 - snd p) * whole es'.
Proof.
  induction es as [|p' es IH]; intros es' H; [discriminate|]. cbn in H. unfold whole in *.
  destruct (same_pair p p') eqn:S; cbn [product_of].
  - injection H as <-. apply andb_prop in S. destruct S as [_ S]. apply Qeq_bool_eq in S. now rewrite S.
  - destruct (take2 p es) as [es1|]; [|discriminate]. injection H as <-. cbn [product_of].
    rewrite (IH es1) by reflexivity. ring.
Qed.

Lemma take2_surplus b p es : forall es' x y, take2 p es = Some es' ->
  surplus b x y (map fst es) == surplus b (x * odds (fst p) b true) (y * odds (fst p) (negb b) true) (map fst es')
  + surplus b (x * odds (fst p) b false) (y * odds (fst p) (negb b) false) (map fst es').
Proof.
  induction es as [|p' es IH]; intros es' x y H; [discriminate|]. cbn in H. cbn [map]. destruct (same_pair p p') eqn:S.
  - injection H as <-. apply andb_prop in S. destruct S as [S _]. apply Qeq_bool_eq in S. rewrite surplus_cons.
    apply Qplus_comp; apply surplus_proper; try reflexivity; now rewrite S.
  - destruct (take2 p es) as [es1|]; [|discriminate]. injection H as <-. cbn [map].
    rewrite !surplus_cons, !(IH es1) by reflexivity.
    assert (R : forall u v u' v', u + v + (u' + v') == u + u' + (v + v')) by (intros; ring). rewrite R.
    repeat apply Qplus_comp; apply surplus_proper; try reflexivity; ring.
Qed.

Section Exact.
Context {Name : Type} (loss delta : Name -> Q) (loss_ok : forall n, 1 <= loss n)
  (delta_ok : forall n, 0 <= delta n <= 1).
(* The parameters of a name. *)
Definition key (n : Name) : Q * Q := (loss n, delta n).

(* The parameters of the fixed list that the launches have not used; None if they used one that is not there. *)
Fixpoint unused2 (es : budget) (l : list Name) : option budget :=
  match l with [] => Some es | n :: l => match take2 (key n) es with Some es => unused2 es l | None => None end end.

(* The rule for parameters fixed in advance: each may be used once, in any order. *)
Definition fixed2 (es : budget) (l : list Name) : bool := match unused2 es l with Some _ => true | None => false end.

Lemma unused2_app es l n : unused2 es (l ++ [n]) = match unused2 es l
  with Some es => take2 (key n) es | None => None end.
Proof. revert es; induction l as [|m l IH]; intros es; cbn; [now destruct take2|].
  destruct take2; [apply IH|reflexivity]. Qed.

Lemma fixed2_closed es : closed (fixed2 es).
Proof. split; [reflexivity|]. intros l n. unfold fixed2. rewrite unused2_app. now destruct (unused2 es l). Qed.

Lemma succeeds_ok b g : 0 <= succeeds loss delta b g <= 1.
Proof.
  induction g as [x|n told IHt heard IH]; cbn [succeeds]; [destruct x; lra|].
  destruct (IHt b) as [t t'], (IH true) as [h h'], (IH false) as [k k'].
  assert (O := odds_one (loss n) b true (loss_ok n)). cbn [negb] in O.
  destruct (odds_ok (loss n) b true (loss_ok n)), (odds_ok (loss n) b false (loss_ok n)), (delta_ok n).
  set (o := odds (loss n) b true) in *. set (o' := odds (loss n) b false) in *.
  set (x := succeeds loss delta b (heard true)) in *. set (y := succeeds loss delta b (heard false)) in *.
  assert (Z : 0 <= o * x + o' * y <= 1) by (split; nra). set (z := o * x + o' * y) in *. split; nra.
Qed.

Lemma fixed2_bound es b g : forall l es', respects (fixed2 es) l g -> unused2 es l = Some es' -> proper es' ->
  forall x y, 0 <= x -> 0 <= y ->
  x * succeeds loss delta b g - y * succeeds loss delta (negb b) g
    <= x * (1 - whole es') + whole es' * surplus b x y (map fst es').
Proof.
  induction g as [v|n told IHt heard IH]; intros l es' K U H x y Hx Hy.
  - cbn [succeeds]. assert (P := surplus_pos b x y (map fst es')). assert (W := whole_ok es' H).
    assert (G : x - y <= surplus b x y (map fst es')) by (apply surplus_ge; intros e I; apply in_map_iff in I;
      destruct I as [p [<- I]]; apply (H p I)).
    set (w := whole es') in *. set (s := surplus b x y (map fst es')) in *.
    assert (0 <= x * (1 - w)) by (apply Qmult_le_0_compat; lra). assert (0 <= w * s) by (apply Qmult_le_0_compat; lra).
    destruct v; [|lra]. assert (w * (x - y) <= w * s) by (rewrite !(Qmult_comm w); now apply Qmult_le_compat_r).
    assert (w * y <= y) by nra. lra.
  - destruct K as [R K]. unfold fixed2 in R. rewrite unused2_app, U in R.
    destruct (take2 (key n) es') as [es1|] eqn:T; [|discriminate].
    assert (U1 : unused2 es (l ++ [n]) = Some es1) by now rewrite unused2_app, U.
    assert (H1 : proper es1) by (intros p I; apply H, (take2_in _ _ _ T p I)).
    assert (Ln := loss_ok n). assert (Dn := delta_ok n).
    assert (I := fun c => IH c (l ++ [n]) es1 (proj2 (K c)) U1 H1 (x * odds (loss n) b c) (y * odds (loss n) (negb b) c)
      (Qmult_le_0_compat _ _ Hx (proj1 (odds_ok _ b c Ln))) (Qmult_le_0_compat _ _ Hy (proj1 (odds_ok _ (negb b) c
        Ln)))).
    assert (I1 := I true). assert (I2 := I false). clear I.
    rewrite (take2_whole _ _ _ T), (take2_surplus b _ _ _ x y T). cbn [succeeds key fst snd].
    assert (O := odds_one (loss n) b true Ln). cbn [negb] in O. assert (T1 := succeeds_ok b (told b)).
    assert (T2 := succeeds_ok (negb b) (told (negb b))).
    set (w := whole es1) in *. set (s1 := surplus b (x * odds (loss n) b true) _ _) in *.
    set (s2 := surplus b (x * odds (loss n) b false) _ _) in *. set (d := delta n) in *.
    set (a1 := succeeds loss delta b (heard true)) in *. set (a2 := succeeds loss delta b (heard false)) in *.
    set (c1 := succeeds loss delta (negb b) (heard true)) in *.
    set (c2 := succeeds loss delta (negb b) (heard false)) in *.
    set (u := succeeds loss delta b (told b)) in *. set (v := succeeds loss delta (negb b) (told (negb b))) in *.
    set (o1 := odds (loss n) b true) in *. set (o2 := odds (loss n) b false) in *.
    set (p1 := odds (loss n) (negb b) true) in *. set (p2 := odds (loss n) (negb b) false) in *.
    assert (X : x * o1 + x * o2 == x) by (rewrite <- Qmult_plus_distr_r, O; ring).
    assert (S : x * (o1 * a1 + o2 * a2) - y * (p1 * c1 + p2 * c2) <= x * (1 - w) + w * (s1 + s2)).
    { setoid_replace (x * (1 - w)) with (x * o1 * (1 - w) + x * o2 * (1 - w)) by (rewrite <- X at 1; ring). lra. }
    assert (D0 : 0 <= 1 - d) by lra. assert (M := Qmult_le_compat_r _ _ _ S D0).
    assert (Tx : x * d * u <= x * d) by (assert (0 <= x * d) by (apply Qmult_le_0_compat; lra); nra).
    assert (Ty : 0 <= y * d * v) by (repeat apply Qmult_le_0_compat; lra). lra.
Qed.

(* For parameters fixed in advance, adaptively launched responses with deltas are valid at (E, exact E). *)
Theorem trials_fixed es E : proper es -> 0 <= E -> trials loss delta (fixed2 es) E (exact E es).
Proof.
  intros H HE g K b. assert (B := fixed2_bound es b g [] es K eq_refl H 1 E ltac:(lra) HE).
  rewrite surplus_excess in B. unfold exact. lra.
Qed.

(* The trial that launches all names, believes what it is told, and else accepts if the responses are in T. *)
Fixpoint all_tried (l : list Name) (T : list bool -> bool) : trial Name :=
  match l with [] => Done (T []) | n :: l => Try n Done (fun x => all_tried l (fun c => T (x :: c))) end.

Lemma all_tried_succeeds b l : forall T, succeeds loss delta b (all_tried l T)
  == (if b then 1 - whole (map key l) else 0) + whole (map key l) * sum (chance b (map loss l))
  (List.filter T (worlds (length l))).
Proof.
  induction l as [|n l IH]; intros T; rewrite sum_filter; [unfold whole; cbn; destruct (T []), b; ring|].
  cbn [all_tried succeeds length worlds map].
  rewrite sum_app, !sum_map, !IH, !sum_filter. cbn [chance]. unfold whole. cbn [map product_of key snd].
  fold (whole (map key l)).
  rewrite (sum_ext (fun x => if T (true :: x) then odds (loss n) b true * chance b (map loss l) x
    else 0) (fun x => odds (loss n) b true * (if T (true :: x) then chance b (map loss l) x else 0))) by (intros c _;
    destruct (T _); ring).
  rewrite (sum_ext (fun x => if T (false :: x) then odds (loss n) b false * chance b (map loss l) x
    else 0) (fun x => odds (loss n) b false * (if T (false :: x) then chance b (map loss l) x else 0)))
    by (intros c _; destruct (T _); ring).
  rewrite !sum_scale. assert (O := odds_one (loss n) b true (loss_ok n)). cbn [negb] in O.
  set (o := odds (loss n) b true) in *. set (o' := odds (loss n) b false) in *.
  set (s := sum _ _). set (s' := sum _ _). assert (O' : o' == 1 - o) by lra. rewrite O'. destruct b; ring.
Qed.

Lemma take2_self es n : take2 (key n) (key n :: es) = Some es.
Proof. cbn. unfold same_pair. now rewrite !(proj2 (Qeq_bool_iff _ _) (Qeq_refl _)). Qed.

Lemma all_tried_respects l : forall es pre, unused2 es pre = Some (map key l) ->
  forall T, respects (fixed2 es) pre (all_tried l T).
Proof.
  induction l as [|n l IH]; intros es pre U T; [exact I|].
  assert (U1 : unused2 es (pre ++ [n]) = Some (map key l)) by (rewrite unused2_app, U;
    apply (take2_self (map key l) n)).
  split; [unfold fixed2; now rewrite U1|]. intros x. split; [exact I|]. now apply IH.
Qed.

Lemma map_key l : map fst (map key l) = map loss l.
Proof. rewrite map_map. reflexivity. Qed.

(* For parameters fixed in advance the rule is valid for responses with deltas at (E, D) iff exact E is at most D. So
   the bound is attained. *)
Theorem trials_optimal l E D : 0 <= E -> trials loss delta (fixed2 (map key l)) E D <-> exact E (map key l) <= D.
Proof.
  intros HE. assert (P : proper (map key l)) by (intros p I; apply in_map_iff in I; destruct I as [n [<- _]]; split;
    [apply loss_ok|apply delta_ok]). split.
  - intros R. specialize (R (all_tried l (exceeds E (map loss l))) (all_tried_respects l _ [] eq_refl _) true).
    cbn [negb] in R.
    rewrite !all_tried_succeeds in R. assert (X := exceeds_sum E (map loss l) (worlds (length l))). unfold exact.
    rewrite map_key. unfold excess. rewrite map_length.
    set (w := whole (map key l)) in *. set (p := sum (chance true _) _) in *.
    set (p' := sum (chance false _) _) in *. set (s := sum _ (worlds (length l))) in *. rewrite X in R. lra.
  - intros L g K b. assert (F := trials_fixed (map key l) E P HE g K b). lra.
Qed.
End Exact.

(* Optimal composition is never worse than the improved basic rule. *)
Theorem exact_improved es E : proper es -> product_of fst es <= E -> exact E es == 1 - whole es.
Proof.
  intros P HE. unfold exact. rewrite excess_product; [ring| |].
  - intros e I. apply in_map_iff in I. destruct I as [p [<- I]]. apply (P p I).
  - eapply Qle_trans; [|exact HE]. apply Qle_lteq; right. clear. induction es as [|p es IH]; cbn; [reflexivity|].
    now rewrite IH.
Qed.

(* For k equal parameters, in closed form ([VW21] Thm 1.4). *)
Theorem exact_equal e d k E : exact E (repeat (e, d) k)
  == 1 - pow (1 - d) k * (1 - sum
  (fun i => times (choose k i) * above_0
  (pow (odds e true true) i * pow (odds e true false) (k - i) - E
  * (pow (odds e true false) i * pow (odds e true true) (k - i)))) (seq 0 (S k))).
Proof.
  unfold exact. rewrite <- excess_equal. assert (W : whole (repeat (e, d) k) == pow (1 - d) k).
  { unfold whole. induction k as [|k IH]; [reflexivity|]. apply Qmult_comp; [reflexivity|exact IH]. }
  rewrite W. replace (map fst (repeat (e, d) k)) with (repeat e k); [reflexivity|]. clear W.
  induction k as [|k IH]; cbn; [reflexivity|]. now rewrite <- IH.
Qed.

(* Optimal composition for interactive mechanisms with parameters (e_j, delta_j) fixed in advance, launched in any
   order, interleaved, chosen adaptively ([VW21] Thm 5.6, 5.7 for interactive mechanisms; [HSV25] Thm 4.12). *)
Theorem optimal_delta {Qry : Type} {Ans : alphabet}
  {Name : Type} (mech : Name -> bool -> machine Qry Ans) decode yes no invalid loss delta es E :
  (forall n, 1 <= loss n) -> (forall n, 0 <= delta n <= 1) -> (forall n, approx_dp (loss n) (delta n) (mech n)) ->
    proper es -> 0 <= E ->
  valid mech decode yes no invalid (fixed2 loss delta es) E (exact E es).
Proof. intros HL HD HM P HE. apply reduction_delta with loss delta; try assumption. now apply trials_fixed. Qed.

(* The view of an odometer that is truncated before the launch that would not fit costs the same. *)
Theorem optimal_truncated {Qry : Type} {Ans : alphabet}
  {Name : Type} (mech : Name -> bool -> machine Qry Ans) decode yes no invalid loss delta es E :
  (forall n, 1 <= loss n) -> (forall n, 0 <= delta n <= 1) -> (forall n, approx_dp (loss n) (delta n) (mech n)) ->
    proper es -> 0 <= E ->
  forall admit A T b, let cut := truncated decode (fixed2 loss delta es) admit [] A in
  seen (filter_machine mech admit decode yes no invalid b) cut T
    <= E * seen (filter_machine mech admit decode yes no invalid (negb b)) cut T + exact E es.
Proof. intros HL HD HM P HE admit A T b. apply truncated_view; [apply fixed2_closed|now apply optimal_delta]. Qed.

(* Every rule that is valid for responses with deltas is valid for continual mechanisms ([HSV25] Thm 12.4). *)
Theorem concurrent_trials {Qry : Type} {Ans : alphabet} {Name : Type}
  (eqName : forall a b : Name, {a = b} + {a <> b}) (cm : Name -> machine Qry Ans)
  f bad decode yes no invalid loss delta rule E D : (forall n, 1 <= loss n) -> (forall n, 0 <= delta n <= 1) ->
  (forall n, continual_private bad (f n) (loss n) (delta n) (cm n)) -> 0 <= E -> trials loss delta rule E D ->
  continual_private bad (suitable eqName f decode (by_rule rule)) E D (ext_con_comp cm decode yes no invalid).
Proof.
  intros HL HD HM HE V. apply concurrent_filter with (rule := rule); try assumption; [|auto].
  apply reduction_delta with loss delta; try assumption.
  intros n. apply refusing; try assumption. apply HM.
Qed.

(* Optimal composition for continual mechanisms with parameters fixed in advance ([HSV25] Thm 4.10, 4.12). *)
Theorem concurrent_exact {Qry : Type} {Ans : alphabet} {Name : Type}
  (eqName : forall a b : Name, {a = b} + {a <> b}) (cm : Name -> machine Qry Ans)
  f bad decode yes no invalid loss delta es E : (forall n, 1 <= loss n) -> (forall n, 0 <= delta n <= 1) ->
  (forall n, continual_private bad (f n) (loss n) (delta n) (cm n)) -> proper es -> 0 <= E ->
  continual_private bad (suitable eqName f decode (by_rule (fixed2 loss delta es))) E (exact E es)
  (ext_con_comp cm decode yes no invalid).
Proof. intros HL HD HM P HE. apply concurrent_trials with loss delta; try assumption. now apply trials_fixed. Qed.
