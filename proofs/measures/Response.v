(* Every pure pair of machines is randomised response, followed by a machine that never sees the secret ([KOV15]; for
   interactive machines [VW21] Thm 1.10; [HSV25] Lemma 4.7 without delta). *)
From Odometry Require Export PostProcessing.
From Coq Require Import Lia Setoid Morphisms.

Section Response.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Notation answers := (every Ans).
Notation machine := (machine Qry Ans).
Notation transcript := (@transcript Qry Ans).

(* What the law of a machine must satisfy: it is 1 at the start, non-negative, and adds up over the answers to each
   question. *)
Record lawful (L : transcript -> Q) := {
  lawful_nil : L [] == 1;
  lawful_pos : forall t, 0 <= L t;
  lawful_total : forall t q, sum (fun a => L (t ++ [(q, a)])) answers == L t }.

Lemma pr_lawful m : lawful (pr m).
Proof. split; [reflexivity|intros; apply pr_pos|]. intros t q. now apply pr_total. Qed.

(* And it suffices: a machine that remembers the transcript, and answers with the ratios of the law. *)
Section Realise.
Context (L : transcript -> Q) (H : lawful L).

(* The outcomes after transcript t: every answer with the ratio of the law. (Any answer where the law is 0.) *)
Definition next (t : transcript) (q : Qry) : list (Q * (Ans * transcript)) :=
  if Qle_bool (L t) 0 then match answers with [] => [] | a :: _ => [(1, (a, t ++ [(q, a)]))] end
  else map (fun a => (L (t ++ [(q, a)]) / L t, (a, t ++ [(q, a)]))) answers.

Lemma positive x : Qle_bool x 0 = false -> 0 < x.
Proof. intros E. apply Qnot_le_lt. intros I. apply Qle_bool_iff in I. congruence. Qed.

Lemma next_pos t q o : In o (next t q) -> 0 <= fst o.
Proof.
  unfold next. destruct (Qle_bool (L t) 0) eqn:E.
  - destruct answers; [easy|]. intros [<-|[]]; cbn; lra.
  - intros I. apply in_map_iff in I. destruct I as [a [<- _]]. cbn. apply positive in E.
    apply Qmult_le_0_compat; [apply (lawful_pos _ H)|]. now apply Qlt_le_weak, Qinv_lt_0_compat.
Qed.

Lemma next_one t q : sum fst (next t q) == 1.
Proof.
  unfold next. destruct (Qle_bool (L t) 0) eqn:E.
  - assert (T := lawful_total _ H [] q). rewrite (lawful_nil _ H) in T. destruct answers; cbn in *; lra.
  - apply positive in E. rewrite sum_map. cbn [fst].
    rewrite (sum_ext _ (fun a => / L t * L (t ++ [(q, a)]))) by (intros; unfold Qdiv; ring).
    rewrite sum_scale, (lawful_total _ H), Qmult_comm, Qmult_inv_r; lra.
Qed.

(* The machine that remembers the transcript and answers with the ratios of the law. *)
Definition realise : machine := Machine transcript [] next next_pos next_one.

Lemma lawful_zero t : forall h, L h == 0 -> L (h ++ t) == 0.
Proof.
  induction t as [|[q a] t IH]; intros h Z; [now rewrite app_nil_r|]. rewrite snoc_app. apply IH.
  assert (T := lawful_total _ H h q). rewrite Z in T.
  assert (O := sum_one (fun a => L (h ++ [(q, a)])) answers a (fun _ _ => lawful_pos _ H _) (every_all Ans a)).
  cbn in O.
  assert (P := lawful_pos _ H (h ++ [(q, a)])). lra.
Qed.

Lemma select_eq (x : Ans) (f : Ans -> Q) : sum (fun a => if eqA a x then f a else 0) answers == f x.
Proof.
  rewrite <- (select x f). apply sum_ext; intros a _. destruct (eqA a x), (eqA x a); congruence || reflexivity.
Qed.

Lemma realise_from t : forall h, L h * expect realise h t (fun _ => 1) == L (h ++ t).
Proof.
  induction t as [|[q a] t IH]; intros h; [cbn; rewrite app_nil_r; ring|]. cbn [Machine.expect].
  change (step realise h q) with (next h q). unfold next. destruct (Qle_bool (L h) 0) eqn:E.
  - apply Qle_bool_iff in E. assert (P := lawful_pos _ H h). assert (Z : L h == 0) by lra.
    rewrite lawful_zero by assumption. rewrite Z. ring.
  - apply positive in E. rewrite sum_map. cbn [fst snd].
    rewrite (select_eq a (fun a => L (h ++ [(q, a)]) / L h * expect realise (h ++ [(q, a)]) t (fun _ => 1))).
    rewrite (snoc_app h _ t), <- IH. field. lra.
Qed.

(* Every function that satisfies these conditions is the law of a machine. *)
Theorem realised t : pr realise t == L t.
Proof. assert (R := realise_from t []). rewrite (lawful_nil _ H), Qmult_1_l in R. exact R. Qed.
End Realise.

(* The parts of a pair of machines: N_b = (e P_b - P_(1-b)) / (e - 1). At e = 1 the pair has one law. *)
Section Parts.
Context (e : Q) (M : bool -> machine) (M_pure : pure_dp e M).

(* The parts of a pair of machines: N_b = (e P_b - P_(1-b)) / (e - 1). At e = 1 the pair has only one law. *)
Definition part (b : bool) (t : transcript) : Q :=
  if Qle_bool e 1 then pr (M true) t else (e * pr (M b) t - pr (M (negb b)) t) / (e - 1).

Lemma e_ge_1 : 1 <= e.
Proof. assert (H := M_pure true []). unfold Machine.pr in H. cbn in H. lra. Qed.

Lemma above_1 : Qle_bool e 1 = false -> 0 < / (e - 1) /\ (e - 1) * / (e - 1) == 1.
Proof.
  intros E. assert (1 < e) by (apply Qnot_le_lt; intros I; apply Qle_bool_iff in I; congruence).
  split; [apply Qinv_lt_0_compat; lra|apply Qmult_inv_r; lra].
Qed.

(* The parts of a pure pair are laws of machines. *)
Theorem part_lawful b : lawful (part b).
Proof.
  unfold part. destruct (Qle_bool e 1) eqn:E; [apply pr_lawful|]. destruct (above_1 E) as [P I]. split.
  - change ((e * 1 - 1) / (e - 1) == 1). unfold Qdiv. now rewrite Qmult_1_r.
  - intros t. assert (H := M_pure (negb b) t). rewrite negb_involutive in H. apply Qmult_le_0_compat; lra.
  - intros t q. unfold Qdiv. rewrite (sum_ext _ (fun a => / (e - 1) * (e * pr (M b) (t ++ [(q,
      a)]) + - 1 * pr (M (negb b)) (t ++ [(q, a)])))) by (intros; ring).
    rewrite sum_scale, sum_plus, !sum_scale, !(pr_total) by assumption. ring.
Qed.

(* The laws of a pure pair are mixtures of the parts with the odds of randomised response: P_b = (e N_b + N_(1-b)) /
   (e + 1). *)
Theorem two_parts b t : pr (M b) t == (e * part b t + part (negb b) t) / (e + 1).
Proof.
  assert (G := e_ge_1). unfold part. destruct (Qle_bool e 1) eqn:E.
  - apply Qle_bool_iff in E. assert (O : e == 1) by lra. assert (H := M_pure true t). assert (H' := M_pure false t).
    cbn [negb] in H, H'. rewrite O, Qmult_1_l in H, H'.
    assert (S : pr (M b) t == pr (M true) t) by (destruct b; [reflexivity|now apply Qle_antisym]). rewrite S. field.
    lra.
  - destruct (above_1 E) as [_ I]. rewrite negb_involutive. field. split; first [lra|intros Z; rewrite Z in I; lra].
Qed.
End Parts.

(* A machine that tosses a coin when it is first asked, and is one of two machines. *)
Section Toss.
Context (p : Q) (p_ok : 0 <= p <= 1) (m m' : machine).

(* The state of a machine that has not yet tossed its coin, or has become one of two machines. *)
Definition tossed : Type := option (state m + state m').

(* The outcomes of one of the two machines, times the probability c that it was chosen. *)
Definition first_toss {X} (c : Q) (f : X -> tossed) (l : list (Q * (Ans * X))) : list (Q * (Ans * tossed)) :=
  map (fun o => (c * fst o, (fst (snd o), f (snd (snd o))))) l.

(* One step: the coin at the first question, then the chosen machine. *)
Definition tstep (s : tossed) (q : Qry) : list (Q * (Ans * tossed)) :=
  match s with
  | None => first_toss p (fun s => Some (inl s)) (step m (start m) q) ++ first_toss (1 - p) (fun s => Some (inr s))
    (step m' (start m') q)
  | Some (inl s) => first_toss 1 (fun s => Some (inl s)) (step m s q)
  | Some (inr s) => first_toss 1 (fun s => Some (inr s)) (step m' s q)
  end.

Lemma first_toss_pos {X} c (f : X -> tossed) l : 0 <= c -> (forall o, In o l -> 0 <= fst o) ->
  forall o, In o (first_toss c f l) -> 0 <= fst o.
Proof. intros Hc H o I. apply in_map_iff in I. destruct I as [x [<- I]]. cbn. apply Qmult_le_0_compat; auto. Qed.

Lemma first_toss_one {X} c (f : X -> tossed) l : sum fst (first_toss c f l) == c * sum fst l.
Proof. unfold first_toss. rewrite sum_map. cbn [fst]. apply sum_scale. Qed.

Lemma tstep_pos s q o : In o (tstep s q) -> 0 <= fst o.
Proof.
  destruct s as [[s|s]|]; cbn [tstep]; [|  |intros I; apply in_app_or in I; destruct I as [I|I]; revert I];
    apply first_toss_pos; try lra; intros x Hx; eapply step_pos, Hx.
Qed.

Lemma tstep_one s q : sum fst (tstep s q) == 1.
Proof. destruct s as [[s|s]|]; cbn [tstep]; rewrite ?sum_app, !first_toss_one, !step_one; ring. Qed.

(* The machine that tosses a coin when it is first asked, and then is m or m'. *)
Definition toss : machine := Machine tossed None tstep tstep_pos tstep_one.

Lemma first_toss_sum {X} c (f : X -> tossed) l (q : Qry) a t :
  sum (fun o => if eqA (fst (snd o)) a then fst o * expect toss (snd (snd o)) t (fun _ => 1) else 0)
  (first_toss c f l) == c * sum (fun o => if eqA (fst (snd o)) a then fst o * expect toss (f (snd (snd o))) t
  (fun _ => 1) else 0) l.
Proof. unfold first_toss. rewrite sum_map, <- sum_scale. apply sum_ext; intros o _. cbn. destruct eqA; ring. Qed.

Lemma toss_left t : forall s, expect toss (Some (inl s)) t (fun _ => 1) == expect m s t (fun _ => 1).
Proof.
  induction t as [|[q a] t IH]; intros s; [reflexivity|]. cbn [Machine.expect].
  change (step toss (Some (inl s)) q) with (first_toss 1 (fun s => Some (inl s)) (step m s q)).
  rewrite first_toss_sum, Qmult_1_l by assumption. apply sum_ext; intros o _.
  destruct eqA; [now rewrite IH|reflexivity].
Qed.

Lemma toss_right t : forall s, expect toss (Some (inr s)) t (fun _ => 1) == expect m' s t (fun _ => 1).
Proof.
  induction t as [|[q a] t IH]; intros s; [reflexivity|]. cbn [Machine.expect].
  change (step toss (Some (inr s)) q) with (first_toss 1 (fun s => Some (inr s)) (step m' s q)).
  rewrite first_toss_sum, Qmult_1_l by assumption. apply sum_ext; intros o _.
  destruct eqA; [now rewrite IH|reflexivity].
Qed.

(* Its law is the mixture of the two laws. *)
Theorem toss_law t : pr toss t == p * pr m t + (1 - p) * pr m' t.
Proof.
  destruct t as [|[q a] t]; unfold Machine.pr; cbn [Machine.expect]; [ring|].
  change (step toss (start toss) q) with (tstep None q). cbn [tstep].
  rewrite sum_app, !first_toss_sum by assumption. apply Qplus_comp; (apply Qmult_comp; [reflexivity|]);
    apply sum_ext; intros o _.
  - destruct eqA; [now rewrite toss_left|reflexivity].
  - destruct eqA; [now rewrite toss_right|reflexivity].
Qed.
End Toss.

(* A player, with its coins, sees the laws only. *)
Lemma then_play_law (m m1 m2 : machine) x y : (forall t, pr m t == x * pr m1 t + y * pr m2 t) -> forall P h,
  then_play m h P == x * then_play m1 h P + y * then_play m2 h P.
Proof.
  intros H P; induction P as [v|w k IH|q k IH]; intros h.
  - rewrite !then_Halt by assumption. destruct v; [apply H|ring].
  - rewrite !then_Toss, <- !weigh_scale, <- weigh_plus. apply weigh_ext. intros i. apply IH.
  - rewrite !(then_Say) by assumption. rewrite <- !sum_scale, <- sum_plus. apply sum_ext; intros a _. apply IH.
Qed.

(* If a law is a combination x P1 + y P2 of two laws, every player accepts with the same combination of probabilities.
   *)
Theorem play_law (m m1 m2 : machine) x y : (forall t, pr m t == x * pr m1 t + y * pr m2 t) -> forall P,
  play m P (start m) == x * play m1 P (start m1) + y * play m2 P (start m2).
Proof. intros H P. exact (then_play_law m m1 m2 x y H P []). Qed.

(* Randomised response with odds e : 1: the probability that the response to bit b is c. *)
Definition odds (e : Q) (b c : bool) : Q := if Bool.eqb b c then e / (e + 1) else 1 / (e + 1).

Lemma odds_ok e b c : 1 <= e -> 0 <= odds e b c <= 1.
Proof.
  intros H. assert (I : (e + 1) * / (e + 1) == 1) by (apply Qmult_inv_r; lra).
  assert (P : 0 < / (e + 1)) by (apply Qinv_lt_0_compat; lra).
  unfold odds, Qdiv. destruct Bool.eqb; split; nra.
Qed.

Lemma odds_one e b c : 1 <= e -> odds e b c + odds e b (negb c) == 1.
Proof. intros H. unfold odds. destruct b, c; cbn; field; lra. Qed.

Lemma odds_pure e b c : 1 <= e -> odds e b c <= e * odds e (negb b) c.
Proof.
  intros H. assert (P : 0 < / (e + 1)) by (apply Qinv_lt_0_compat; lra). unfold odds, Qdiv. set (i := / (e + 1)) in *.
  assert (I : i <= e * i) by nra. assert (I' : e * i <= e * (e * i)) by nra.
  destruct b, c; cbn [Bool.eqb negb]; rewrite ?Qmult_1_l; lra.
Qed.

(* The machine that draws a randomised response c to bit b, and is N c from then on. *)
Definition responded (e : Q) (He : 1 <= e) (N : bool ->
  machine) (b : bool) : machine := toss (odds e b true) (odds_ok e b true He) (N true) (N false).

Lemma responded_law e He N b t : pr (responded e He N b) t
  == odds e b true * pr (N true) t + odds e b false * pr (N false) t.
Proof. unfold responded. rewrite toss_law. assert (O := odds_one e b true He). cbn [negb] in O.
  assert (E : 1 - odds e b true == odds e b false) by (rewrite <- O; ring). now rewrite E. Qed.

(* Every pure pair of machines with loss e has the law of "draw one randomised response, then be N c", where N does
   not depend on the secret ([VW21] Thm 1.10; [HSV25] Lemma 4.7 without delta). *)
Theorem response e M : pure_dp e M -> {N : bool -> machine | forall He b t, pr (M b) t == pr (responded e He N b) t}.
Proof.
  intros H. exists (fun b => realise (part e M b) (part_lawful e M H b)). intros He b t.
  rewrite responded_law, !realised.
  assert (P := two_parts e M H b t). rewrite P. unfold odds. destruct b; cbn; field; lra.
Qed.

(* Conversely, every such machine is pure with loss e. *)
Theorem responded_pure e He N : pure_dp e (responded e He N).
Proof.
  intros b t. rewrite !responded_law. assert (O := odds_pure e b true He). assert (O' := odds_pure e b false He).
  assert (P := pr_pos (N true) t). assert (P' := pr_pos (N false) t). set (x := pr (N true) t) in *.
  set (y := pr (N false) t) in *. nra.
Qed.

(* Every player accepts a pure pair as often as it accepts the randomised response followed by N. *)
Theorem response_play e M : pure_dp e M ->
  {N : bool -> machine | forall b P, play (M b) P (start (M b)) == odds e b true * play (N true) P (start (N true))
  + odds e b false * play (N false) P (start (N false))}.
Proof.
  intros H. destruct (response e M H) as [N HN]. exists N. intros b. apply play_law. intros t.
  rewrite (HN (e_ge_1 e M H)). apply responded_law.
Qed.
End Response.
