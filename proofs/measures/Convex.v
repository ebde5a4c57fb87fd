(* Interactive post-processing for every convex measure: a functional of the two laws, phi(P(t), P'(t)) summed over
   the views t, that scales, and that mixing does not make worse. For example Renyi divergence of every integer order.
   *)
From Odometry Require Export PostProcessing RenyiFilter.
From Coq Require Import Lia Setoid Morphisms.

Section Convex.
Context {Left : Type} {Reply : alphabet} {Qry : Type} {Ans : alphabet}.
Notation eqR := (@same Reply).
Notation eqA := (@same Ans).
Notation answers := (every Ans).
Notation replies := (every Reply).
Context {le : Q -> Q -> Prop} (ord : direction le) (phi : Q -> Q -> Q) (F : functional phi).
Infix "<<" := le (at level 70).

(* phi is considered on pairs that are ok (for Renyi: impossible there, so impossible here). *)
Context (ok : Q -> Q -> Prop) (ok_eq : forall p p' r r', p == r -> p' == r' -> ok p p' -> ok r r') (ok_0 : ok 0 0).
Context (ok_plus : forall p p' r r', 0 <= p' -> 0 <= r' -> ok p p' -> ok r r' -> ok (p + r) (p' + r')).
Context (ok_scale : forall c p p', 0 <= c -> ok p p' -> ok (c * p) (c * p')).
Context (phi_scale : forall c p p', 0 <= c -> 0 <= p -> 0 <= p' -> ok p p' -> phi (c * p) (c * p') == c * phi p p').
Context (phi_plus : forall p p' r r', 0 <= p -> 0 <= p' -> 0 <= r -> 0 <= r' -> ok p p' -> ok r r' ->
  phi p p' + phi r r' << phi (p + r) (p' + r')).

Lemma le_refl x : x << x.
Proof. apply (le_eq _ ord). reflexivity. Qed.

Lemma le_eqs x x' y y' : x == x' -> y == y' -> x' << y' -> x << y.
Proof. intros E E' H. apply (le_trans _ ord) with x'; [now apply (le_eq _ ord)|].
  apply (le_trans _ ord) with y'; [assumption|]. now apply (le_eq _ ord). Qed.

Lemma phi_eq p p' r r' : p == r -> p' == r' -> phi p p' == phi r r'.
Proof. intros; now apply F. Qed.

Lemma phi_0 : phi 0 0 == 0.
Proof.
  transitivity (phi (0 * 0) (0 * 0)); [apply phi_eq; reflexivity|].
  transitivity (0 * phi 0 0); [apply phi_scale; auto; lra|ring].
Qed.

Lemma phi_sum {X} (f g : X -> Q) l : (forall x, 0 <= f x) -> (forall x, 0 <= g x) -> (forall x, ok (f x) (g x)) ->
  ok (sum f l) (sum g l) /\ sum (fun x => phi (f x) (g x)) l << phi (sum f l) (sum g l).
Proof.
  intros Hf Hg Ho. induction l as [|x l [O H]]; cbn; [split; [assumption|apply (le_eq _ ord); symmetry; apply phi_0]|].
  assert (P : 0 <= sum f l) by now apply sum_pos. assert (P' : 0 <= sum g l) by now apply sum_pos.
  split; [now apply ok_plus|]. eapply (le_trans _ ord); [|now apply phi_plus].
  apply (le_plus _ ord); [apply le_refl|exact H].
Qed.

Lemma weigh_pos w : (forall p, In p w -> 0 <= p) -> forall f, (forall i, 0 <= f i) -> 0 <= weigh w f.
Proof. intros Hw f H. apply Qle_trans with (weigh w (fun _ => 0)); [rewrite weigh_const; lra|]. now apply weigh_le. Qed.

Lemma phi_weigh w : (forall p, In p w -> 0 <= p) -> forall f g, (forall i, 0 <= f i) -> (forall i, 0 <= g i) ->
  (forall i, ok (f i) (g i)) ->
  ok (weigh w f) (weigh w g) /\ weigh w (fun i => phi (f i) (g i)) << phi (weigh w f) (weigh w g).
Proof.
  induction w as [|p w IH]; intros Hw f g Hf Hg Ho; cbn; [split; [assumption|apply (le_eq _ ord); symmetry;
    apply phi_0]|].
  assert (Hp : 0 <= p) by (apply Hw; now left). assert (Hw' : forall x, In x w -> 0 <= x) by (intros x Hx; apply Hw;
    now right).
  destruct (IH Hw' (fun i => f (S i)) (fun i => g (S i))) as [OK H]; auto.
  assert (P1 : 0 <= p * f O) by now apply Qmult_le_0_compat. assert (P1' : 0 <= p * g O) by now apply Qmult_le_0_compat.
  assert (P2 := weigh_pos w Hw' (fun i => f (S i)) (fun i => Hf (S i))).
  assert (P2' := weigh_pos w Hw' (fun i => g (S i)) (fun i => Hg (S i))).
  split; [apply ok_plus; auto|]. eapply (le_trans _ ord); [|apply phi_plus; auto].
  apply (le_plus _ ord); [|exact H]. apply (le_eq _ ord). symmetry. now apply phi_scale.
Qed.

(* Some outcome is at least as bad as the average. *)
Lemma weigh_pick w : (forall p, In p w -> 0 <= p) -> forall f, (forall i, 0 <= f i) ->
  {i | sum (fun p => p) w * f i << weigh w f}.
Proof.
  induction w as [|p w IH]; intros Hw f Hf; [exists O; cbn; apply (le_eq _ ord); ring|].
  assert (Hp : 0 <= p) by (apply Hw; now left). assert (Hw' : forall x, In x w -> 0 <= x) by (intros x Hx; apply Hw;
    now right).
  assert (Hs : 0 <= sum (fun p => p) w) by now apply sum_pos.
  destruct (IH Hw' (fun i => f (S i)) (fun i => Hf (S i))) as [i Hi]. cbn [weigh sum].
  destruct (le_total _ ord (f O) (f (S i))) as [L|L]; [exists O|exists (S i)];
    (eapply le_eqs; [apply Qmult_plus_distr_l|reflexivity|]); apply (le_plus _ ord); try exact Hi; try apply le_refl.
  - eapply (le_trans _ ord); [|exact Hi]. apply (le_mult _ ord); auto. apply le_refl.
  - apply (le_mult _ ord); auto. apply le_refl.
Qed.

Section Behind.
Context (P : @middle Left Reply Qry Ans).

(* The probability that the machine's history is h, and then, from memory s, the transcript of "m behind P" is t. *)
Definition rest (m : machine Qry Ans) (s : memory P) (t : list (Left * Reply)) (h : list (Qry * Ans)) : Q :=
  expect m (start m) h (fun sm => expect (behind P m) (s, sm) t (fun _ => 1)).

(* The probability that the rest of the transcript is t, if the reply was r; else 0. *)
Definition hit (m : machine Qry Ans) (r : Reply) (t : list (Left * Reply)) (x : Reply * (memory P * state m)) : Q :=
  if eqR (fst x) r then expect (behind P m) (snd x) t (fun _ => 1) else 0.

(* The probability that the machine's history is h, and then the plan p replies r and the rest is t. *)
Definition from (m : machine Qry Ans) (p : plan (memory P)) (r : Reply) (t : list (Left * Reply)) (h : list (Qry *
  Ans)) : Q :=
  expect m (start m) h (fun sm => sum (fun o => fst o * hit m r t (snd o)) (run m p sm)).

Lemma rest_from m s l r t h : rest m s ((l, r) :: t) h == from m (act P s l) r t h.
Proof.
  apply expect_ext; intros sm. cbn [expect]. apply sum_ext; intros o _. unfold hit.
  destruct eqR; [reflexivity|]. symmetry. apply Qmult_0_r.
Qed.

Lemma from_Answer m r0 s r t h : from m (Answer r0 s) r t h == if eqR r0 r then rest m s t h else 0.
Proof.
  unfold from, rest. destruct (eqR r0 r) as [->|n].
  - apply expect_ext; intros sm. cbn. unfold hit. cbn. destruct (eqR r r); [|congruence]. ring.
  - rewrite (expect_ext m _ (fun _ => 0)).
    + generalize (start m). induction h as [|[q a] h IH]; intros s0; cbn; [reflexivity|].
      rewrite (sum_ext _ (fun _ => 0)); [apply sum_zero|].
      intros o _. destruct eqA; [rewrite IH|]; ring.
    + intros sm. cbn. unfold hit. cbn. destruct (eqR r0 r); [congruence|]. ring.
Qed.

Lemma expect_weigh (m : machine Qry Ans) w f h : forall s, expect m s h (fun sm => weigh w (fun i => f i sm))
  == weigh w (fun i => expect m s h (f i)).
Proof.
  induction h as [|[q a] h IH]; intros s; cbn [expect]; [reflexivity|].
  rewrite <- sum_weigh. apply sum_ext; intros o _. destruct eqA.
  - rewrite IH. symmetry. apply weigh_scale.
  - now rewrite weigh_const, Qmult_0_r.
Qed.

Lemma from_Coin m w k r t h : from m (Coin w k) r t h == weigh w (fun i => from m (k i) r t h).
Proof.
  unfold from. rewrite <- expect_weigh. apply expect_ext; intros sm. cbn [run]. apply (sum_mixed (hit m r t)).
Qed.

Lemma from_Call m q k r t h : from m (Call q k) r t h == sum (fun a => from m (k a) r t (h ++ [(q, a)])) answers.
Proof.
  unfold from. erewrite (sum_ext _ _ answers) by (intros a _; apply expect_snoc).
  rewrite expect_sum. apply expect_ext; intros sm. cbn [run].
  rewrite sum_flat_map, sum_swap. apply sum_ext; intros o _. etransitivity; [apply (sum_scaled (fst o) (hit m r t))|].
  symmetry. exact (select (fst (snd o))
    (fun a => fst o * sum (fun o => fst o * hit m r t (snd o)) (run m (k a) (snd (snd o))))).
Qed.

Lemma rest_pos m s t h : 0 <= rest m s t h.
Proof. apply expect_pos; intros sm. apply expect_pos; intros; lra. Qed.

Lemma from_pos m p r t h : fair_plan p -> 0 <= from m p r t h.
Proof.
  intros Fp. apply expect_pos; intros sm. apply sum_pos; intros o Ho.
  apply Qmult_le_0_compat; [now apply (run_pos m p Fp sm)|]. unfold hit. destruct eqR; [|lra].
  apply expect_pos; intros; lra.
Qed.

Context (m m' : machine Qry Ans) (laws_ok : forall h, ok (pr m h) (pr m' h)).

Lemma from_ok t : (forall s h, ok (rest m s t h) (rest m' s t h)) -> forall p, fair_plan p ->
  forall r h, ok (from m p r t h) (from m' p r t h).
Proof.
  intros H p; induction p as [r0 s|w k IH|q k IH]; intros Fp r h; cbn in Fp.
  - eapply ok_eq; [symmetry; apply from_Answer|symmetry; apply from_Answer|]. destruct eqR; [apply H|apply ok_0].
  - eapply ok_eq; [symmetry; apply from_Coin|symmetry; apply from_Coin|].
    apply phi_weigh; [apply Fp| | |]; intros i; try (apply from_pos, Fp); apply IH, Fp.
  - eapply ok_eq; [symmetry; apply from_Call|symmetry; apply from_Call|].
    apply phi_sum; intros a; try (apply from_pos, Fp); apply IH, Fp.
Qed.

Lemma rest_ok t : forall s h, ok (rest m s t h) (rest m' s t h).
Proof.
  induction t as [|[l r] t IH]; intros s h; [apply laws_ok|].
  eapply ok_eq; [symmetry; apply rest_from|symmetry; apply rest_from|].
  exact (from_ok t IH (act P s l) (act_fair P s l) r h).
Qed.

(* For every adversary against "M behind P" there is one against M that does at least as much harm. *)
Notation harm s A h := (sum (fun t => phi (rest m s t h) (rest m' s t h)) (views A)).
Notation harm_from p k h := (sum (fun r => sum (fun t => phi (from m p r t h) (from m' p r t h)) (views (k r)))
  replies).

Lemma plan_harm k : (forall r s h, {B | total phi m m' h B << harm s (k r) h}) ->
  forall p, fair_plan p -> forall h, {B | total phi m m' h B << harm_from p k h}.
Proof.
  intros H p; induction p as [r0 s|w kk IH|q kk IH]; intros Fp h; cbn in Fp.
  - destruct (H r0 s h) as [B HB]. exists B. eapply le_eqs; [reflexivity| |exact HB].
    rewrite (sum_ext _ (fun r => if eqR r0 r then harm s (k r0) h else 0)).
    + rewrite indicator by apply every_once. destruct in_dec as [|n]; [reflexivity|]. elim n; apply every_all.
    + intros r _. destruct (eqR r0 r) as [<-|n].
      * apply sum_ext; intros t _. apply phi_eq; rewrite from_Answer; destruct (eqR r0 r0); congruence.
      * rewrite <- (sum_zero (views (k r))). apply sum_ext; intros t _. transitivity (phi 0 0); [|apply phi_0].
        apply phi_eq; rewrite from_Answer; destruct (eqR r0 r); congruence.
  - destruct Fp as [[Hw One] Fk].
    destruct (weigh_pick w Hw (fun i => harm_from (kk i) k h)) as [i Hi].
    { intros i. apply sum_pos; intros r _. apply sum_pos; intros t _. apply F; apply from_pos, Fk. }
    destruct (IH i (Fk i) h) as [B HB]. exists B. eapply (le_trans _ ord); [exact HB|].
    eapply (le_trans _ ord); [eapply le_eqs; [|reflexivity|exact Hi]; rewrite One; ring|].
    eapply le_eqs; [symmetry; apply sum_weigh|reflexivity|]. apply le_sum; [assumption|]. intros r.
    eapply le_eqs; [symmetry; apply sum_weigh|reflexivity|]. apply le_sum; [assumption|]. intros t.
    eapply le_eqs; [reflexivity|apply phi_eq; apply from_Coin|].
    apply phi_weigh; auto; intros j; try (apply from_pos, Fk).
    apply from_ok; [apply rest_ok|apply Fk].
  - exists (Ask q (fun a => proj1_sig (IH a (Fp a) (h ++ [(q, a)])))).
    eapply le_eqs; [apply total_Ask|reflexivity|].
    eapply (le_trans _ ord); [apply (le_sum ord _ (fun a => harm_from (kk a) k (h ++ [(q, a)]))); intros a;
      apply (proj2_sig (IH a (Fp a) (h ++ [(q, a)])))|].
    eapply le_eqs; [apply sum_swap|reflexivity|]. apply le_sum; [assumption|]. intros r.
    eapply le_eqs; [apply sum_swap|reflexivity|]. apply le_sum; [assumption|]. intros t.
    eapply le_eqs; [reflexivity|apply phi_eq; apply from_Call|]. apply phi_sum; intros a; try (apply from_pos, Fp).
    apply from_ok; [apply rest_ok|apply Fp].
Qed.

Lemma through_harm A : forall s h, {B | total phi m m' h B << harm s A h}.
Proof.
  induction A as [|l k IH]; intros s h.
  - exists Stop. apply (le_eq _ ord). unfold total. cbn. rewrite app_nil_r. reflexivity.
  - destruct (plan_harm k IH (act P s l) (act_fair P s l) h) as [B HB]. exists B.
    eapply le_eqs; [reflexivity| |exact HB]. etransitivity; [apply views_Ask|].
    apply sum_ext; intros r _. apply sum_ext; intros t _. apply phi_eq; apply rest_from.
Qed.

(* Post-processing for every convex functional: what bounds m, m' bounds them behind any person in the middle. *)
Theorem postprocess_bounded c : bounded (le := le) phi c m m' -> bounded (le := le) phi c (behind P m) (behind P m').
Proof.
  intros H A. destruct (through_harm A (blank P) []) as [B HB]. eapply (le_trans _ ord); [apply (H B)|exact HB].
Qed.
End Behind.
End Convex.

(* Renyi. *)
Section Renyi.
Lemma pow_mono x y n : 0 <= x <= y -> pow x n <= pow y n.
Proof.
  intros [Hx H]; induction n as [|n IH]; cbn; [lra|]. apply qmult_le; auto. now apply pow_ge_0.
Qed.

(* The power of an average is at most the average of the powers. *)
Lemma power_mean a b u v n : 0 < a -> 0 < b -> 0 <= u -> 0 <= v ->
  pow (a * u + b * v) (S n) * pow (/ (a + b)) n <= a * pow u (S n) + b * pow v (S n).
Proof.
  intros Ha Hb Hu Hv. assert (Hs : 0 < / (a + b)) by (apply Qinv_lt_0_compat; lra).
  assert (I : (a + b) * / (a + b) == 1) by (apply Qmult_inv_r; lra).
  induction n as [|n IH]; [cbn; lra|].
  set (U := pow u (S n)) in *. set (V := pow v (S n)) in *. set (s := / (a + b)) in *.
  assert (E : pow (a * u + b * v) (S (S n)) * pow s (S n)
    == (a * u + b * v) * s * (pow (a * u + b * v) (S n) * pow s n)) by (cbn [pow]; ring).
  rewrite E. change (pow u (S (S n))) with (u * U). change (pow v (S (S n))) with (v * V).
  assert (K : 0 <= (a * u + b * v) * s) by (apply Qmult_le_0_compat; [|lra]; nra).
  apply Qle_trans with ((a * u + b * v) * s * (a * U + b * V)); [rewrite !(Qmult_comm ((a * u + b * v) * s));
    now apply Qmult_le_compat_r|].
  assert (D : (a * u + b * v) * (a * U + b * V) <= (a + b) * (a * (u * U) + b * (v * V))).
  { assert (M : 0 <= (u - v) * (U - V)).
    { destruct (Qlt_le_dec u v) as [L|L].
      - assert (U <= V) by (apply pow_mono; lra). nra.
      - assert (V <= U) by (apply pow_mono; lra). nra. }
    assert (AB : 0 <= a * b * ((u - v) * (U - V))) by (apply Qmult_le_0_compat; [nra|assumption]).
    assert (R : (a + b) * (a * (u * U) + b * (v * V)) - (a * u + b * v) * (a * U + b * V)
      == a * b * ((u - v) * (U - V))) by ring.
    lra. }
  apply Qle_trans with (s * ((a + b) * (a * (u * U) + b * (v * V)))).
  - rewrite <- Qmult_assoc, (Qmult_comm (a * u + b * v)), <- Qmult_assoc, !(Qmult_comm s), (Qmult_comm (a * U + b * V)).
    apply Qmult_le_compat_r; [assumption|lra].
  - assert (R : s * ((a + b) * (a * (u * U) + b * (v * V))) == ((a + b) * s) * (a * (u * U) + b * (v * V))) by ring.
    rewrite R, I. lra.
Qed.

(* Impossible there implies impossible here. *)
Definition possible (p p' : Q) : Prop := p' == 0 -> p == 0.

Lemma renyi_zero k p p' : p == 0 -> renyi k p p' == 0.
Proof. intros Z. unfold renyi. cbn [pow]. rewrite Z. ring. Qed.

Lemma renyi_plus k p p' r r' : 0 <= p -> 0 <= p' -> 0 <= r -> 0 <= r' -> possible p p' -> possible r r' ->
  renyi k (p + r) (p' + r') <= renyi k p p' + renyi k r r'.
Proof.
  intros Hp Hp' Hr Hr' Z Z'. destruct (renyi_functional k) as [Pr _].
  destruct (Qlt_le_dec 0 p') as [Lp|Lp].
  2: { assert (E' : p' == 0) by lra. specialize (Z E'). rewrite (renyi_zero k p p' Z).
       apply Qle_lteq; right. rewrite Qplus_0_l. apply Pr; lra. }
  destruct (Qlt_le_dec 0 r') as [Lr|Lr].
  2: { assert (E' : r' == 0) by lra. specialize (Z' E'). rewrite (renyi_zero k r r' Z').
       apply Qle_lteq; right. rewrite Qplus_0_r. apply Pr; lra. }
  assert (M := power_mean p' r' (p * / p') (r * / r') (S k) Lp Lr).
  assert (I : p' * / p' == 1) by (apply Qmult_inv_r; lra). assert (I' : r' * / r' == 1) by (apply Qmult_inv_r; lra).
  assert (V : 0 < / p') by now apply Qinv_lt_0_compat. assert (V' : 0 < / r') by now apply Qinv_lt_0_compat.
  assert (E : p' * (p * / p') == p) by (rewrite (Qmult_comm p), Qmult_assoc, I; ring).
  assert (E' : r' * (r * / r') == r) by (rewrite (Qmult_comm r), Qmult_assoc, I'; ring).
  rewrite E, E' in M. specialize (M ltac:(nra) ltac:(nra)). unfold renyi at 1.
  assert (G : forall x y, y * / y == 1 -> y * pow (x * / y) (S (S k)) == renyi k x y).
  { intros x y J. unfold renyi. rewrite pow_mult. cbn [pow].
    transitivity (x * (x * pow x k) * (/ y * pow (/ y) k) * (y * / y)); [ring|rewrite J; ring]. }
  rewrite (G p p' I), (G r r' I') in M. exact M.
Qed.

Lemma renyi_scale k c p p' : 0 <= c -> renyi k (c * p) (c * p') == c * renyi k p p'.
Proof.
  intros Hc. destruct (Qlt_le_dec 0 c) as [L|L].
  - unfold renyi. rewrite Qinv_mult_distr, !pow_mult. cbn [pow].
    assert (I : c * / c == 1) by (apply Qmult_inv_r; lra).
    assert (J : pow c k * pow (/ c) k == 1). { rewrite <- pow_mult. clear - I.
    induction k as [|k IH]; cbn; [reflexivity|]. rewrite IH, I. reflexivity. }
    transitivity (c * (p * (p * pow p k)) * (/ p' * pow (/ p') k) * ((c * / c) * (pow c k * pow (/ c) k)));
      [ring|rewrite I, J; ring].
  - assert (Z : c == 0) by lra. rewrite (renyi_zero k (c * p)) by (rewrite Z; ring). rewrite Z. ring.
Qed.

Context {Left : Type} {Reply : alphabet} {Qry : Type} {Ans : alphabet}.

(* Post-processing for Renyi privacy of every order k + 2. *)
Theorem postprocess_renyi (P : @middle Left Reply Qry Ans) k r m m' :
  renyi_close k r m m' -> renyi_close k r (behind P m) (behind P m').
Proof.
  intros [H Z].
  assert (O0 : possible 0 0) by (intros _; reflexivity).
  assert (Oe : forall p p' r r', p == r -> p' == r' -> possible p p' -> possible r r').
  { intros p p' r0 r' E E' O Y. rewrite <- E. apply O. now rewrite E'. }
  assert (Op : forall p p' r r', 0 <= p' -> 0 <= r' -> possible p p' -> possible r r' -> possible (p + r) (p' + r')).
  { intros p p' r0 r' P1 P2 O O' Y. assert (p == 0) by (apply O; lra). assert (r0 == 0) by (apply O'; lra). lra. }
  assert (Os : forall c p p', 0 <= c -> possible p p' -> possible (c * p) (c * p')).
  { intros c p p' _ O Y. apply Qmult_integral in Y. destruct Y as [Y|Y]; [rewrite Y; ring|]. rewrite (O Y). ring. }
  assert (Fs : forall c p p', 0 <= c -> 0 <= p -> 0 <= p' -> possible p p' ->
    renyi k (c * p) (c * p') == c * renyi k p p')
    by (intros; now apply renyi_scale).
  split.
  - apply (postprocess_bounded Measure.at_most (renyi k)
      (renyi_functional k) possible Oe O0 Op Os Fs); try assumption.
    intros; now apply renyi_plus.
  - intros t. apply (rest_ok Measure.at_most (renyi k)
      (renyi_functional k) possible Oe O0 Op Os Fs) with (s := blank P) (h := []); try assumption.
    intros; now apply renyi_plus.
Qed.
End Renyi.
