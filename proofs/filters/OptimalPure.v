(* Optimal composition of pure losses that are fixed in advance ([KOV15], [MV16] without deltas; [VW21] Thm 1.4, 1.10,
   5.6; [HSV25] Thm 4.10), for interactive mechanisms: every bound that holds for independent randomised responses.
   Which mechanisms are launched, when, and in which order of losses is adaptive. *)
From Odometry Require Export Reduction Continual.
From Coq Require Import Lia Setoid Morphisms.

(* All lists of k responses. *)
Fixpoint worlds (k : nat) : list (list bool) :=
  match k with O => [[]] | S k => map (cons true) (worlds k) ++ map (cons false) (worlds k) end.

(* The probability of responses c to bit b, for independent randomised responses with losses es. *)
Fixpoint chance (b : bool) (es : list Q) (c : list bool) : Q :=
  match es, c with e :: es, x :: c => odds e b x * chance b es c | _, _ => 1 end.

(* max(0, x). *)
Definition above_0 (x : Q) : Q := if Qle_bool x 0 then 0 else x.

(* What k responses exceed: the sum over all lists c of responses of max(0, P(c) - E P'(c)). The least delta at E
   ([VW21] Thm 5.6 without deltas). *)
Definition excess (E : Q) (es : list Q) : Q
  := sum (fun c => above_0 (chance true es c - E * chance false es c)) (worlds (length es)).

Lemma above_0_spec x : (0 < x /\ above_0 x == x) \/ (x <= 0 /\ above_0 x == 0).
Proof.
  unfold above_0. destruct (Qle_bool x 0) eqn:E; [right|left]; split; try reflexivity; [now apply Qle_bool_iff|].
  apply Qnot_le_lt. intros I. apply Qle_bool_iff in I. congruence.
Qed.

#[global] Instance above_0_proper : Proper (Qeq ==> Qeq) above_0.
Proof. intros x y H. destruct (above_0_spec x) as [[? E]|[? E]], (above_0_spec y) as [[? E']|[? E']]; rewrite E, E';
  lra. Qed.

#[global] Instance odds_proper : Proper (Qeq ==> eq ==> eq ==> Qeq) odds.
Proof. intros e e' H b _ <- c _ <-. unfold odds. destruct Bool.eqb; now rewrite H. Qed.

Section Over.
Context (b : bool).

(* The same with weights x and y of what was seen before. *)
Definition surplus (x y : Q) (es : list Q) : Q
  := sum (fun c => above_0 (x * chance b es c - y * chance (negb b) es c)) (worlds (length es)).

Lemma surplus_cons x y e es : surplus x y (e :: es)
  == surplus (x * odds e b true) (y * odds e (negb b) true) es + surplus (x * odds e b false)
  (y * odds e (negb b) false) es.
Proof.
  unfold surplus. cbn [length worlds]. rewrite sum_app, !sum_map. cbn [chance].
  apply Qplus_comp; apply sum_ext; intros c _; apply above_0_proper; ring.
Qed.

#[local] Instance surplus_proper : Proper (Qeq ==> Qeq ==> eq ==> Qeq) surplus.
Proof. intros x x' Hx y y' Hy es _ <-. apply sum_ext; intros c _. now rewrite Hx, Hy. Qed.

Lemma surplus_pos x y es : 0 <= surplus x y es.
Proof. apply sum_pos; intros c _. destruct (above_0_spec (x * chance b es c - y * chance (negb b) es c)) as [[?
  ->]|[? ->]]; lra. Qed.

Lemma surplus_ge es : (forall e, In e es -> 1 <= e) -> forall x y, x - y <= surplus x y es.
Proof.
  induction es as [|e es IH]; intros H x y.
  - unfold surplus. cbn. destruct (above_0_spec (x * 1 - y * 1)) as [[? ->]|[? ->]]; lra.
  - rewrite surplus_cons. assert (I := IH (fun e H' => H e (or_intror H'))).
    assert (I1 := I (x * odds e b true) (y * odds e (negb b) true)).
    assert (I2 := I (x * odds e b false) (y * odds e (negb b) false)).
    assert (He := H e (or_introl eq_refl)). assert (O := odds_one e b true He).
    assert (O' := odds_one e (negb b) true He). cbn [negb] in O, O'.
    set (p := odds e b true) in *. set (p' := odds e b false) in *. set (r := odds e (negb b) true) in *.
    set (r' := odds e (negb b) false) in *.
    assert (X : x == x * p + x * p') by (rewrite <- Qmult_plus_distr_r, O; ring).
    assert (Y : y == y * r + y * r') by (rewrite <- Qmult_plus_distr_r, O'; ring). lra.
Qed.

(* The list without its first entry that equals e; None if there is none. *)
Fixpoint take (e : Q) (es : list Q) : option (list Q) :=
  match es with [] => None | e' :: es => if Qeq_bool e e' then Some es else option_map (cons e') (take e es) end.

Lemma surplus_take e es : forall es' x y, take e es = Some es' ->
  surplus x y es == surplus (x * odds e b true) (y * odds e (negb b) true) es' + surplus (x * odds e b false)
  (y * odds e (negb b) false) es'.
Proof.
  induction es as [|e' es IH]; intros es' x y H; [discriminate|]. cbn in H. destruct (Qeq_bool e e') eqn:Q.
  - injection H as ->. apply Qeq_bool_eq in Q. rewrite surplus_cons. now rewrite !Q.
  - destruct (take e es) as [es1|]; [|discriminate]. injection H as <-. rewrite !surplus_cons, !(IH es1) by reflexivity.
    assert (R : forall u v u' v', u + v + (u' + v') == u + u' + (v + v')) by (intros; ring). rewrite R.
    repeat apply Qplus_comp; apply surplus_proper; try reflexivity; ring.
Qed.
End Over.

Lemma surplus_both b es : forall x y, surplus b x y es == surplus (negb b) x y es.
Proof.
  induction es as [|e es IH]; intros x y; [reflexivity|]. rewrite !surplus_cons, !IH, Qplus_comm.
  unfold odds. destruct b; reflexivity.
Qed.

Lemma surplus_excess b E es : surplus b 1 E es == excess E es.
Proof.
  assert (H : surplus true 1 E es == excess E es) by (apply sum_ext; intros c _; apply above_0_proper; cbn [negb];
    ring).
  destruct b; [exact H|]. rewrite <- H. now rewrite (surplus_both true).
Qed.

Section Optimal.
Context {Name : Type} (loss : Name -> Q).

(* The losses of the fixed list that the launches have not used; None if they used one that is not there. *)
Fixpoint unused (es : list Q) (l : list Name) : option (list Q) :=
  match l with [] => Some es | n :: l => match take (loss n) es with Some es => unused es l | None => None end end.

(* The rule for losses fixed in advance: each loss of the list may be used once, in any order. *)
Definition fixed (es : list Q) (l : list Name) : bool := match unused es l with Some _ => true | None => false end.

Lemma unused_app es l n : unused es (l ++ [n]) = match unused es l with Some es => take (loss n) es | None => None end.
Proof.
  revert es; induction l as [|m l IH]; intros es; cbn; [now destruct take|]. destruct take; [apply IH|reflexivity].
Qed.

Lemma fixed_closed es : closed (fixed es).
Proof. split; [reflexivity|]. intros l n. unfold fixed. rewrite unused_app. now destruct (unused es l). Qed.

Lemma take_in e es es' : take e es = Some es' -> forall x, In x es' -> In x es.
Proof.
  revert es'; induction es as [|e' es IH]; intros es' H x I; [discriminate|]. cbn in H.
  destruct Qeq_bool; [injection H as <-; now right|].
  destruct (take e es) as [es1|]; [|discriminate]. injection H as <-.
  destruct I as [->|I]; [now left|right; now apply (IH es1)].
Qed.

Lemma fixed_bound es b g : forall l es', keeps (fixed es) l g -> unused es l = Some es' -> (forall e, In e es' ->
  1 <= e) ->
  forall x y, x * wins loss b g - y * wins loss (negb b) g <= surplus b x y es'.
Proof.
  induction g as [v|n k IH]; intros l es' K U H x y.
  - cbn [wins]. assert (P := surplus_pos b x y es'). assert (G := surplus_ge b es' H x y). destruct v; lra.
  - destruct K as [R K]. unfold fixed in R. rewrite unused_app, U in R.
    destruct (take (loss n) es') as [es1|] eqn:T; [|discriminate].
    assert (U1 : unused es (l ++ [n]) = Some es1) by now rewrite unused_app, U.
    assert (I := fun r => IH r _ es1 (K r) U1 (fun e He => H e (take_in _ _ _ T e He)) (x * odds (loss n) b r) (y *
      odds (loss n) (negb b) r)).
    rewrite (surplus_take b _ _ _ x y T). cbn [wins]. assert (I1 := I true). assert (I2 := I false). lra.
Qed.

(* For losses fixed in advance, responses launched in any order and adaptively are valid at (E, excess E). *)
Theorem responses_fixed es E : (forall e, In e es -> 1 <= e) -> responses loss (fixed es) E (excess E es).
Proof.
  intros H g K b. assert (B := fixed_bound es b g [] es K eq_refl H 1 E). rewrite surplus_excess in B. lra.
Qed.

(* The experiment that launches all names and accepts if the responses are in T. *)
Fixpoint all_of (l : list Name) (T : list bool -> bool) : experiment Name :=
  match l with [] => End (T []) | n :: l => Respond n (fun x => all_of l (fun c => T (x :: c))) end.

Lemma all_of_wins b l : forall T, wins loss b (all_of l T)
  == sum (chance b (map loss l)) (List.filter T (worlds (length l))).
Proof.
  induction l as [|n l IH]; intros T; rewrite sum_filter; [cbn; destruct (T []); ring|].
  cbn [all_of wins length worlds map].
  rewrite sum_app, !sum_map, !IH, !sum_filter, <- !sum_scale. cbn [chance].
  apply Qplus_comp; apply sum_ext; intros c _; destruct (T _); ring.
Qed.

Lemma take_self es n l : take (loss n) (loss n :: es) = Some es /\
  fixed (map loss (n :: l)) (n :: l) = fixed (map loss l) l.
Proof. unfold fixed. cbn. rewrite (proj2 (Qeq_bool_iff (loss n) (loss n)) (Qeq_refl _)). now split. Qed.

Lemma all_of_keeps l : forall es pre, unused es pre = Some (map loss l) -> forall T, keeps (fixed es) pre (all_of l T).
Proof.
  induction l as [|n l IH]; intros es pre U T; [exact I|].
  assert (U1 : unused es (pre ++ [n]) = Some (map loss l)) by (rewrite unused_app, U;
    apply (take_self (map loss l) n l)).
  split; [unfold fixed; now rewrite U1|]. intros x. now apply IH.
Qed.

(* The set of responses where P is above E P'. *)
Definition exceeds (E : Q) (es : list Q) (c : list bool) : bool
  := negb (Qle_bool (chance true es c - E * chance false es c) 0).

Lemma exceeds_sum E es l : sum (chance true es) (List.filter (exceeds E es) l)
  == E * sum (chance false es) (List.filter (exceeds E es) l) + sum
  (fun c => above_0 (chance true es c - E * chance false es c)) l.
Proof.
  rewrite !sum_filter, <- sum_scale, <- sum_plus. apply sum_ext; intros c _. unfold exceeds, above_0.
  destruct Qle_bool; cbn [negb]; ring.
Qed.

(* An experiment attains the excess. *)
Theorem attained l E : exists g, keeps (fixed (map loss l)) [] g /\ wins loss true g
  == E * wins loss false g + excess E (map loss l).
Proof.
  exists (all_of l (exceeds E (map loss l))). split; [now apply all_of_keeps|]. rewrite !all_of_wins. unfold excess.
  rewrite map_length. apply exceeds_sum.
Qed.

(* For losses fixed in advance the rule is valid for responses at (E, D) iff the excess at E is at most D. *)
Theorem responses_optimal l E D : (forall n, In n l -> 1 <= loss n) ->
  responses loss (fixed (map loss l)) E D <-> excess E (map loss l) <= D.
Proof.
  intros H. split.
  - intros R. destruct (attained l E) as [g [K G]]. specialize (R g K true). cbn [negb] in R. lra.
  - intros L g K b. assert (F := responses_fixed (map loss l) E). eapply Qle_trans; [apply F|]; [|exact K|lra].
    intros e I. apply in_map_iff in I. destruct I as [n [<- I]]. auto.
Qed.
End Optimal.

(* The excess at E is the least D for which the pair of product distributions of the responses is (E, D)-close. *)
Theorem product_pair es E D : (forall e, In e es -> 1 <= e) ->
  (forall b T, sum (chance b es) (List.filter T (worlds (length es))) <= E * sum (chance (negb b) es)
  (List.filter T (worlds (length es))) + D) <-> excess E es <= D.
Proof.
  intros H. assert (R := responses_optimal (fun e : Q => e) es E D H). rewrite map_id in R. rewrite <- R. split.
  - intros P. apply R. specialize (P true (exceeds E es)). cbn [negb] in P. rewrite exceeds_sum in P. unfold excess.
    lra.
  - intros P b T. specialize (P (all_of es T)). assert (K := all_of_keeps (fun e => e) es es []).
    rewrite map_id in K. specialize (P (K eq_refl T) b).
    rewrite !all_of_wins, map_id in P. exact P.
Qed.

Section Machines.
Context {Qry : Type} {Ans : alphabet}.
Context {Name : Type} (loss : Name -> Q) (es : list Q) (es_ok : forall e, In e es -> 1 <= e).

(* Optimal composition for interactive pure mechanisms: losses fixed in advance, each used at most once, launched at
   any time, interleaved, and chosen adaptively ([VW21] Cor 1.11; [HSV25] Thm 4.10, pure). *)
Theorem optimal (mech : Name -> bool -> machine Qry Ans) decode yes no invalid E : (forall n,
  pure_dp (loss n) (mech n)) ->
  valid mech decode yes no invalid (fixed loss es) E (excess E es).
Proof. intros H. apply reduction with loss; try assumption. now apply responses_fixed. Qed.

(* Every (E, D) that holds for the pair of product distributions of randomised responses holds for the composition. *)
Theorem whatever_holds (mech : Name -> bool -> machine Qry Ans) decode yes no invalid E D :
  (forall n, pure_dp (loss n) (mech n)) ->
  (forall b T, sum (chance b es) (List.filter T (worlds (length es))) <= E * sum (chance (negb b) es)
  (List.filter T (worlds (length es))) + D) -> valid mech decode yes no invalid (fixed loss es) E D.
Proof.
  intros H P admit Ad b A T. apply (product_pair es E D es_ok) in P.
  assert (V := optimal mech decode yes no invalid E H admit Ad b A T). lra.
Qed.

End Machines.

(* Optimal composition for continual mechanisms with pure losses fixed in advance ([HSV25] Thm 4.10, pure). *)
Theorem concurrent_optimal {Qry : Type} {Ans : alphabet} {Name : Type} (loss : Name -> Q) (es : list Q)
  (es_ok : forall e, In e es -> 1 <= e) (eqName : forall a b : Name, {a = b} + {a <> b}) (cm : Name ->
  machine Qry Ans) f bad decode yes no invalid E : (forall n, pure_dp (loss n) (wrapped bad false (f n) (cm n))) ->
  continual_private bad (suitable eqName f decode (by_rule (fixed loss es))) E (excess E es)
  (ext_con_comp cm decode yes no invalid).
Proof.
  intros H. apply concurrent_filter with (rule := fixed loss es); try assumption; [|auto].
  apply optimal; try assumption. intros n. exact (proj2 (refusing_pure _ _ _ _) (H n)).
Qed.

(* Every rule that is valid for randomised responses is valid for continual mechanisms with pure losses ([HSV25] Thm
   12.4, pure). *)
Theorem concurrent_responses {Qry : Type} {Ans : alphabet}
  {Name : Type} (loss : Name -> Q) rule (eqName : forall a b : Name, {a = b} + {a <> b}) (cm : Name ->
    machine Qry Ans) f bad decode yes no invalid E D :
  (forall n, pure_dp (loss n) (wrapped bad false (f n) (cm n))) -> responses loss rule E D ->
  continual_private bad (suitable eqName f decode (by_rule rule)) E D (ext_con_comp cm decode yes no invalid).
Proof.
  intros H R. apply concurrent_filter with (rule := rule); try assumption; [|auto].
  apply reduction with loss; try assumption. intros n. exact (proj2 (refusing_pure _ _ _ _) (H n)).
Qed.

(* For the filter of the responses themselves, nothing less than the excess holds. *)
Theorem optimal_least {Name : Type} (loss : Name -> Q) (loss_ok : forall n, 1 <= loss n) l E D :
  valid (responder loss loss_ok) launch_or_ask true false false (fixed loss (map loss l)) E D
    <-> excess E (map loss l) <= D.
Proof. rewrite <- responders_decide. apply responses_optimal. auto. Qed.

(* Optimal composition is never worse than the product of the losses: at E at least the product, the excess is 0. *)
Theorem excess_product es E : (forall e, In e es -> 1 <= e) -> product_of (fun e => e) es <= E -> excess E es == 0.
Proof.
  intros H HE. assert (P : forall c, 0 <= chance false es c /\ chance true es c
    <= product_of (fun e => e) es * chance false es c).
  { clear HE. induction es as [|e es IH]; intros c; [destruct c; cbn; lra|]. assert (He := H e (or_introl eq_refl)).
    assert (L : forall l, (forall x, In x l -> 1 <= x) -> 1 <= product_of (fun x : Q => x) l).
    { induction l as [|x l IHl]; intros Hl; cbn; [lra|]. assert (A := Hl x (or_introl eq_refl)).
      assert (B := IHl (fun z Hz => Hl z (or_intror Hz))). nra. }
    assert (L1 := L es (fun z Hz => H z (or_intror Hz))). destruct c as [|x c]; cbn [chance product_of]; [nra|].
    destruct (IH (fun z Hz => H z (or_intror Hz)) c) as [I0 I]. destruct (odds_ok e false x He) as [O _].
    destruct (odds_ok e true x He) as [O' _].
    assert (O1 := odds_pure e true x He). cbn [negb] in O1. split; [now apply Qmult_le_0_compat|].
    apply Qle_trans with (odds e true x * (product_of (fun x => x) es * chance false es c));
      [rewrite !(Qmult_comm (odds e true x)); now apply Qmult_le_compat_r|].
    setoid_replace (e * product_of (fun x => x) es * (odds e false x * chance false es c))
      with (e * odds e false x * (product_of (fun x => x) es * chance false es c)) by ring.
    apply Qmult_le_compat_r; [assumption|]. apply Qmult_le_0_compat; lra. }
  unfold excess. rewrite <- (sum_zero (worlds (length es))). apply sum_ext; intros c _. destruct (P c) as [P0 P1].
  assert (product_of (fun e => e) es * chance false es c <= E * chance false es c) by now apply Qmult_le_compat_r.
  destruct (above_0_spec (chance true es c - E * chance false es c)) as [[? ->]|[? ->]]; lra.
Qed.

(* k equal losses: the sum over how many responses are "true" ([KOV15]; [VW21] Thm 1.4). *)
Section Equal.
(* The binomial coefficient. *)
Fixpoint choose (k i : nat) : nat :=
  match k, i with _, O => 1 | O, S _ => 0 | S k, S i => choose k i + choose k (S i) end%nat.

(* A natural number as a rational. *)
Definition times (n : nat) : Q := inject_Z (Z.of_nat n).

(* The sum of f(i, j) over all lists of k bits with i of one kind and j of the other. *)
Fixpoint layers (k : nat) (f : nat -> nat -> Q) : Q :=
  match k with O => f O O | S k => layers k (fun i j => f (S i) j) + layers k (fun i j => f i (S j)) end.

Lemma layers_ext k : forall f g, (forall i j, f i j == g i j) -> layers k f == layers k g.
Proof. induction k as [|k IH]; intros f g H; cbn [layers]; [apply H|]. apply Qplus_comp; apply IH; intros; apply H. Qed.

Lemma choose_above k : forall i, (k < i)%nat -> choose k i = O.
Proof. induction k as [|k IH]; intros [|i] H; try lia; cbn; [reflexivity|]. now rewrite !IH by lia. Qed.

Lemma times_plus n n' : times (n + n') == times n + times n'.
Proof. unfold times. now rewrite Znat.Nat2Z.inj_add, inject_Z_plus. Qed.

Lemma choose_0 k : choose k 0 = 1%nat.
Proof. now destruct k. Qed.

Lemma layers_choose k : forall f, layers k f == sum (fun i => times (choose k i) * f i (k - i)%nat) (seq 0 (S k)).
Proof.
  induction k as [|k IH]; intros f; [cbn; unfold times; cbn; ring|]. cbn [layers]. rewrite !IH.
  assert (Second : sum (fun i => times (choose k i) * f i (S (k - i))) (seq 0 (S k)) ==
    f O (S k) + sum (fun i => times (choose k (S i)) * f (S i) (k - i)%nat) (seq 0 (S k))).
  { transitivity (sum (fun i => times (choose k i) * f i (S (k - i))) (seq 0 (S (S k)))).
    - rewrite (seq_S (S k) 0), sum_app. cbn [sum Nat.add]. rewrite (choose_above k (S k)) by lia. unfold times at 3.
      cbn. ring.
    - change (seq 0 (S (S k))) with (0%nat :: seq 1 (S k)). rewrite <- (seq_shift (S k) 0). cbn [sum].
      rewrite choose_0, PeanoNat.Nat.sub_0_r, sum_map. apply Qplus_comp; [unfold times; cbn; ring|].
      apply sum_ext; intros i I. apply in_seq in I.
      destruct (PeanoNat.Nat.eq_dec i k) as [->|N]; [rewrite choose_above by lia; unfold times; cbn; ring|].
      now replace (S (k - S i)) with (k - i)%nat by lia. }
  rewrite Second. change (seq 0 (S (S k))) with (0%nat :: seq 1 (S k)). cbn [sum].
  rewrite <- (seq_shift (S k) 0), sum_map. cbn [choose Nat.sub].
  assert (R : forall a b c, a + (b + c) == b + (a + c)) by (intros; ring). rewrite R.
  apply Qplus_comp; [unfold times; cbn; ring|].
  rewrite <- sum_plus. apply sum_ext; intros i _. rewrite times_plus. ring.
Qed.

Lemma surplus_equal e k : forall x y, surplus true x y (repeat e k)
  == layers k (fun i j => above_0
  (x * (pow (odds e true true) i * pow (odds e true false) j) - y
  * (pow (odds e true false) i * pow (odds e true true) j))).
Proof.
  induction k as [|k IH]; intros x y; [unfold surplus; cbn; rewrite Qplus_0_r; apply above_0_proper; ring|].
  cbn [repeat layers]. rewrite surplus_cons, !IH. cbn [negb]. change (odds e false true) with (odds e true false).
  change (odds e false false) with (odds e true true).
  apply Qplus_comp; apply layers_ext; intros i j; apply above_0_proper; cbn [pow]; ring.
Qed.

(* For k equal losses the excess is a sum over the number of "true" responses ([VW21] Thm 1.4 without deltas). *)
Theorem excess_equal e k E : excess E (repeat e k)
  == sum (fun i => times (choose k i) * above_0
  (pow (odds e true true) i * pow (odds e true false) (k - i) - E
  * (pow (odds e true false) i * pow (odds e true true) (k - i)))) (seq 0 (S k)).
Proof.
  rewrite <- (surplus_excess true), surplus_equal, layers_choose. apply sum_ext; intros i _.
  apply Qmult_comp; [reflexivity|]. apply above_0_proper. ring.
Qed.
End Equal.
