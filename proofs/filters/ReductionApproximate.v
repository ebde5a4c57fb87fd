(* The reduction to randomised response with deltas ([HSV25] Lemma 4.7, Thm 12.4). What two (e, d)-private machines
   have in common splits, question by question, into two laws within a factor e of each other; the rest has weight d.
   For finite adversaries: the split depends on how many questions are left, and on which. *)
From Odometry Require Export Reduction ApproximateFilter Auditor.
From Coq Require Import Lia Setoid.

(* Two amounts g, g' within e of each other split among answers as what is there to be split does. *)
Section Split.
Context (e : Q) (He : 1 <= e) {Ans : Type} (l : list Ans).

Lemma times_le x y c : 0 < c -> x * c <= y * c -> x <= y.
Proof. intros. now apply Qmult_lt_0_le_reg_r with c. Qed.

Lemma ratios A B g g' : 0 <= A -> A <= e * B -> B <= e * A -> 0 <= g -> g <= A -> g <= e * g' -> g' <= e * g ->
  g' * A <= g * B ->
  {s : Q & {r : Q | s * A == g /\ r * (e * B - A) == e * g' - g /\ 0 <= r /\ r <= s /\ s <= 1}}.
Proof.
  intros HA HAB HBA Hg HgA Hgg Hgg' Side. destruct (Qlt_le_dec 0 A) as [P|P].
  - assert (S : g / A * A == g) by (field; lra). destruct (Qlt_le_dec 0 (e * B - A)) as [R|R].
    + exists (g / A), ((e * g' - g) / (e * B - A)). split; [exact S|]. split; [field; lra|].
      assert (K : g' <= g / A * B) by (apply times_le with A; [assumption|];
        setoid_replace (g / A * B * A) with (g / A * A * B) by ring; now rewrite S).
      split; [apply Qle_shift_div_l; lra|]. split; [|apply Qle_shift_div_r; lra]. apply Qle_shift_div_r; [assumption|].
      setoid_replace (g / A * (e * B - A)) with (e * (g / A * B) - g / A * A) by ring. rewrite S.
      assert (e * g' <= e * (g / A * B)) by (apply qmult_le; nra). lra.
    + exists (g / A), 0. split; [exact S|]. assert (E : e * B == A) by lra.
      assert (K : e * g' <= g). { apply times_le with A; [assumption|].
      setoid_replace (e * g' * A) with (e * (g' * A)) by ring. rewrite <- E at 2. nra. }
      split; [lra|]. split; [lra|]. split; [apply Qle_shift_div_l; lra|apply Qle_shift_div_r; lra].
  - exists 0, 0. assert (g == 0) by lra. assert (e * g == 0) by nra. repeat split; try lra. assert (0 <= g') by nra.
    assert (g' == 0) by lra. nra.
Qed.

(* Amounts f, f' for each answer, below alpha and beta, within a factor e of each other, that add up to g and g'. *)
Definition shares (alpha beta : Ans -> Q) (g g' : Q) : Type := {f : Ans -> Q & {f' : Ans -> Q |
  (forall a, (0 <= f a <= alpha a) /\ (0 <= f' a <= beta a) /\ f a <= e * f' a /\ f' a <= e * f a) /\ sum f l
    == g /\ sum f' l == g'}}.

Lemma split_side alpha beta g g' : (forall a, 0 <= alpha a /\ 0 <= beta a /\ alpha a <= e * beta a /\
  beta a <= e * alpha a) -> 0 <= g -> g <= sum alpha l -> g <= e * g' -> g' <= e * g ->
  g' * sum alpha l <= g * sum beta l -> shares alpha beta g g'.
Proof.
  intros H Hg HgA Hgg Hgg' Side.
  destruct (ratios (sum alpha l) (sum beta l) g g') as [s [r [S [R [R0 [Rs S1]]]]]]; try assumption.
  - apply sum_pos. intros a _. apply H.
  - rewrite <- sum_scale. apply sum_le. intros a _. apply H.
  - rewrite <- sum_scale. apply sum_le. intros a _. apply H.
  - assert (I : e * / e == 1) by (apply Qmult_inv_r; lra). assert (IP : 0 < / e) by (apply Qinv_lt_0_compat; lra).
    exists (fun a => s * alpha a), (fun a => / e * (s * alpha a + r * (e * beta a - alpha a))). split; [|split].
    + intros a. destruct (H a) as [A0 [B0 [AB BA]]]. set (x := alpha a) in *. set (y := beta a) in *.
      assert (D : 0 <= r * (e * y - x) <= s * (e * y - x)) by (split; nra). set (d := r * (e * y - x)) in *.
      assert (E : e * (/ e * (s * x + d))
        == s * x + d) by (setoid_replace (e * (/ e * (s * x + d))) with (e * / e * (s * x + d)) by ring; rewrite I;
        ring).
      assert (U : / e * (s * x + d) <= s * y). { apply times_le with e; [lra|].
      setoid_replace (/ e * (s * x + d) * e) with (e * (/ e * (s * x + d))) by ring. rewrite E. nra. }
      assert (L : 0 <= s * x) by nra. assert (L' : 0 <= / e * (s * x + d)) by (apply Qmult_le_0_compat; lra).
      assert (sy : s * y <= y) by nra. assert (sx : s * x <= x) by nra. assert (sxy : s * y <= e * (s * x)) by nra.
      repeat split; lra.
    + now rewrite sum_scale.
    + rewrite sum_scale. setoid_replace (sum (fun a => s * alpha a + r * (e * beta a - alpha a)) l) with (e * g').
      { setoid_replace (/ e * (e * g')) with (e * / e * g') by ring. rewrite I. ring. }
      transitivity (sum (fun a => s * alpha a + (r * e * beta a + (- r) * alpha a)) l); [apply sum_ext; intros; ring|].
      rewrite !sum_plus, !sum_scale. lra.
Qed.

Lemma split alpha beta g g' : (forall a, 0 <= alpha a /\ 0 <= beta a /\ alpha a <= e * beta a /\
  beta a <= e * alpha a) -> 0 <= g -> 0 <= g' -> g <= sum alpha l -> g' <= sum beta l -> g <= e * g' ->
  g' <= e * g -> shares alpha beta g g'.
Proof.
  intros H Hg Hg' A B C C'. destruct (Qlt_le_dec (g * sum beta l) (g' * sum alpha l)) as [L|L]; [|now apply split_side].
  destruct (split_side beta alpha g' g) as [f' [f [F [S S']]]]; try assumption; try lra.
  - intros a. destruct (H a) as [? [? [? ?]]]. tauto.
  - exists f, f'. split; [|tauto]. intros a. destruct (F a) as [? [? [? ?]]]. tauto.
Qed.
End Split.

(* Experiments with randomised responses that have deltas. *)
Section Trial.
Context {Name : Type} (loss delta : Name -> Q).

(* An experimenter launches randomised responses with deltas: with probability delta it is told the secret, else it
   hears a response. It finally accepts or not. *)
Inductive trial := Done (x : bool) | Try (n : Name) (told heard : bool -> trial).

(* The probability that it accepts, when the secret is b. *)
Fixpoint succeeds (b : bool) (g : trial) : Q :=
  match g with
  | Done x => if x then 1 else 0
  | Try n told heard => delta n * succeeds b (told b) +
      (1 - delta n) * (odds (loss n) b true * succeeds b (heard true) + odds (loss n) b false * succeeds b (heard
        false))
  end.

(* All launches of the trial keep the rule. *)
Fixpoint respects (rule : list Name -> bool) (l : list Name) (g : trial) : Prop :=
  match g with
  | Done _ => True
  | Try n told heard => rule (l ++ [n]) = true /\ forall x,
    respects rule (l ++ [n]) (told x) /\ respects rule (l ++ [n]) (heard x)
  end.

(* The rule is valid at (E, D) for adaptively launched randomised responses with deltas. *)
Definition trials (rule : list Name -> bool) (E D : Q) : Prop :=
  forall g, respects rule [] g -> forall b, succeeds b g <= E * succeeds (negb b) g + D.
End Trial.
Arguments trial : clear implicits.

Section Deltas.
Context {Qry : Type} {Ans : alphabet}.
Notation answers := (every Ans).
Notation transcript := (@transcript Qry Ans).
Notation adversary := (@adversary Qry Ans).

(* Questions from qs, at most N in all. *)
Section Horizon.
Context (qs : list Qry) (N : nat).

(* A law for questions from qs, at most N of them: non-negative, and it adds up over the answers. *)
Definition good (L : transcript -> Q) : Prop := (forall t, 0 <= L t) /\
  forall t q, (length t < N)%nat -> In q qs -> sum (fun a => L (t ++ [(q, a)])) answers == L t.

Lemma pr_good m : good (pr m).
Proof. split; [intros; apply pr_pos|]. intros t q _ _. now apply pr_total. Qed.

Section Pair.
Context (e d : Q) (He : 1 <= e) (Hd : 0 <= d <= 1) (m m' : machine Qry Ans).
Context (close : approx e d m m') (close' : approx e d m' m).
Notation reaches := (@reach Qry Ans Qle at_least qs (common e)).

Lemma twice x : 0 <= x -> x <= e * (e * x).
Proof. intros H. assert (x <= e * x) by nra. assert (0 <= e * x) by lra. set (y := e * x) in *. nra. Qed.

Lemma reach_cone m1 m2 n : forall h, reaches m1 m2 n h <= e * reaches m2 m1 n h.
Proof.
  induction n as [|n IH]; intros h.
  - cbn [reach]. assert (P := pr_pos m1 h). assert (P' := pr_pos m2 h).
    destruct (common_le e (pr m1 h) (pr m2 h)) as [C C'].
    unfold common at 2, qmin. destruct Qle_bool; [assumption|]. assert (W := twice (pr m1 h) P). lra.
  - cbn [reach]. set (f := fun q => sum (fun a => reaches m2 m1 n (h ++ [(q, a)])) answers).
    set (x := common e (pr m2 h) (pr m1 h)).
    destruct (worst_in f x qs) as [[q [I ->]]| -> ].
    + eapply Qle_trans; [exact (proj2 (worst_le at_least (fun q => sum (fun a => reaches m1 m2 n (h ++ [(q,
        a)])) answers) _ qs) q I)|].
      unfold f. rewrite <- sum_scale. apply sum_le; intros a _. apply IH.
    + eapply Qle_trans; [exact (proj1 (worst_le at_least (fun q => sum (fun a => reaches m1 m2 n (h ++ [(q,
        a)])) answers) _ qs))|].
      unfold x. assert (P := pr_pos m1 h). assert (P' := pr_pos m2 h).
      destruct (common_le e (pr m1 h) (pr m2 h)) as [C C'].
      unfold common at 2, qmin. destruct Qle_bool; [assumption|]. assert (W := twice (pr m1 h) P). lra.
Qed.

(* The amounts (g, g') at history h are within what the two laws have in common, and within a factor e of each other.
   *)
Definition fits (n : nat) (h : transcript) (g : Q * Q) : Prop :=
  0 <= fst g <= reaches m m' n h /\ 0 <= snd g <= reaches m' m n h /\ fst g <= e * snd g /\ snd g <= e * fst g.

(* Amounts that fit. *)
Definition pairs n h := {g : Q * Q | fits n h g}.

Lemma e_pos : 0 <= e. Proof. lra. Qed.

Lemma next_pairs n h q (p : pairs (S n) h) :
  {f : forall a, pairs n (h ++ [(q, a)]) | In q qs ->
  sum (fun a => fst (proj1_sig (f a))) answers == fst (proj1_sig p) /\
  sum (fun a => snd (proj1_sig (f a))) answers == snd (proj1_sig p)}.
Proof.
  destruct p as [[g g'] [G [G' [C C']]]]. cbn [fst snd] in *.
  set (alpha a := reaches m m' n (h ++ [(q, a)])). set (beta a := reaches m' m n (h ++ [(q, a)])).
  assert (P : forall a, 0 <= alpha a /\ 0 <= beta a /\ alpha a <= e * beta a /\ beta a <= e * alpha a).
  { intros a. repeat split; try apply reach_cone; apply reach_pos, common_functional, e_pos. }
  assert (Zero : (In q qs -> g <= sum alpha answers /\ g' <= sum beta answers -> False) ->
    {f : forall a, pairs n (h ++ [(q, a)]) | In q qs ->
    sum (fun a => fst (proj1_sig (f a))) answers == g /\ sum (fun a => snd (proj1_sig (f a))) answers == g'}).
  { intros F. assert (Z : forall a, fits n (h ++ [(q, a)]) (0, 0)). { intros a. destruct (P a) as [? [? [? ?]]].
    unfold fits. cbn [fst snd]. fold (alpha a) (beta a). repeat split; lra. }
    exists (fun a => exist _ (0, 0) (Z a)). intros I. exfalso. apply (F I). split.
    - eapply Qle_trans; [apply G|]. exact (reach_ask at_least qs (common e) m m' n h q I).
    - eapply Qle_trans; [apply G'|]. exact (reach_ask at_least qs (common e) m' m n h q I). }
  destruct (Qlt_le_dec (sum alpha answers) g) as [L|L]; [apply Zero; intros _ [? _]; lra|].
  destruct (Qlt_le_dec (sum beta answers) g') as [L'|L']; [apply Zero; intros _ [_ ?]; lra|].
  destruct (split e He answers alpha beta g g' P) as [f [f' [F [S S']]]]; try tauto.
  assert (Z : forall a, fits n (h ++ [(q, a)]) (f a, f' a)) by (intros a; exact (F a)).
  exists (fun a => exist _ (f a, f' a) (Z a)). intros _. split; assumption.
Qed.

(* The amounts along a transcript: at each question they are split among the answers. *)
Fixpoint walk (n : nat) (h t : transcript) : pairs n h -> Q * Q :=
  match t, n with
  | [], _ => fun p => proj1_sig p
  | (q, a) :: t, S n => fun p => walk n (h ++ [(q, a)]) t (proj1_sig (next_pairs n h q p) a)
  | _ :: _, O => fun _ => (0, 0)
  end.

Lemma walk_nil n h p : walk n h [] p = proj1_sig p.
Proof. now destruct n. Qed.

Lemma walk_fits t : forall n h p, let g := walk n h t p in
  (0 <= fst g <= pr m (h ++ t)) /\ (0 <= snd g <= pr m' (h ++ t)) /\ fst g <= e * snd g /\ snd g <= e * fst g.
Proof.
  induction t as [|[q a] t IH]; intros n h p.
  - cbv zeta. rewrite walk_nil. destruct p as [[g g'] [G [G' [C C']]]]. cbn [proj1_sig fst snd] in *.
    assert (R := reach_now at_least qs (common e) m m' n h).
    assert (R' := reach_now at_least qs (common e) m' m n h). cbv beta in R, R'.
    destruct (common_le e (pr m h) (pr m' h)) as [K _]. destruct (common_le e (pr m' h) (pr m h)) as [K' _].
    rewrite app_nil_r. repeat split; lra.
  - destruct n as [|n]; cbn [walk].
    + assert (P := pr_pos m (h ++ (q, a) :: t)). assert (P' := pr_pos m' (h ++ (q, a) :: t)). cbn [fst snd].
      repeat split; lra.
    + rewrite (snoc_app h (q, a) t). apply IH.
Qed.

Lemma walk_total q t : In q qs -> forall n h p, (length t < n)%nat ->
  sum (fun a => fst (walk n h (t ++ [(q, a)]) p)) answers == fst (walk n h t p) /\
  sum (fun a => snd (walk n h (t ++ [(q, a)]) p)) answers == snd (walk n h t p).
Proof.
  intros I; induction t as [|[q' a'] t IH]; intros [|n] h p L; cbn [length] in L; try lia.
  - destruct (proj2_sig (next_pairs n h q p) I) as [S S']. change (walk (Datatypes.S n) h [] p) with (proj1_sig p).
    rewrite <- S, <- S'.
    split; apply sum_ext; intros a _; cbn [app walk]; now destruct n.
  - cbn [app walk]. apply IH. lia.
Qed.

Lemma all_fits : fits N [] (1 - d, 1 - d).
Proof.
  assert (F := common_functional e e_pos). apply (approx_common) in close, close'.
  assert (R := reach_start at_least qs (common e) m m' N _ close).
  assert (R' := reach_start at_least qs (common e) m' m N _ close').
  cbv beta in R, R'. unfold fits. cbn [fst snd]. repeat split; try lra; nra.
Qed.

(* Two laws within a factor e of each other are mixtures of two others, with the odds of randomised response: the
   parts (e G - G') / (e - 1) and (e G' - G) / (e - 1). At e = 1 they are all equal. *)
Lemma cone_parts (G G' : transcript -> Q) : (forall t, 0 <= G t /\ G t <= e * G' t /\ G' t <= e * G t) ->
  (forall t q, (length t < N)%nat -> In q qs ->
    sum (fun a => G (t ++ [(q, a)])) answers == G t /\ sum (fun a => G' (t ++ [(q, a)])) answers == G' t) ->
  G [] = 1 - d -> G' [] = 1 - d ->
  exists same other, good same /\ good other /\ same [] == 1 - d /\ other [] == 1 - d /\
    forall t, (e + 1) * G t == e * same t + other t /\ (e + 1) * G' t == same t + e * other t.
Proof.
  intros Fit Tot G0 G0'. pose (i := / (e - 1)).
  exists (fun t => if Qle_bool e 1 then G t else (e * G t - G' t) * i),
    (fun t => if Qle_bool e 1 then G t else (e * G' t - G t) * i).
  unfold good. rewrite G0, G0'. destruct (Qle_bool e 1) eqn:E.
  - apply Qle_bool_iff in E. assert (O : e == 1) by lra.
    repeat split; try reflexivity; try apply Fit; try (intros; now apply Tot); destruct (Fit t) as [_ [C C']];
      rewrite O, Qmult_1_l in *; lra.
  - destruct (above_1 e E) as [I0 I]. fold i in I0, I.
    assert (J : (e * (1 - d) - (1 - d)) * i == 1 - d).
    { transitivity ((e - 1) * i * (1 - d)); [ring|rewrite I; ring]. }
    repeat split; try exact J.
    + intros t. destruct (Fit t) as [_ [C C']]. apply Qmult_le_0_compat; lra.
    + intros t q L Iq. destruct (Tot t q L Iq) as [T T']. rewrite <- T, <- T'.
      rewrite (sum_ext _ (fun a => e * i * G (t ++ [(q, a)]) + - i * G' (t ++ [(q, a)]))) by (intros; ring).
      rewrite sum_plus, !sum_scale. ring.
    + intros t. destruct (Fit t) as [_ [C C']]. apply Qmult_le_0_compat; lra.
    + intros t q L Iq. destruct (Tot t q L Iq) as [T T']. rewrite <- T, <- T'.
      rewrite (sum_ext _ (fun a => e * i * G' (t ++ [(q, a)]) + - i * G (t ++ [(q, a)]))) by (intros; ring).
      rewrite sum_plus, !sum_scale. ring.
    + transitivity ((e - 1) * i * ((e + 1) * G t)); [rewrite I; ring|ring].
    + transitivity ((e - 1) * i * ((e + 1) * G' t)); [rewrite I; ring|ring].
Qed.

(* What is left of a machine's law when a smaller law is taken away. *)
Lemma rest_good (M : machine Qry Ans) H : (forall t, H t <= pr M t) -> (forall t q, (length t < N)%nat -> In q qs ->
  sum (fun a => H (t ++ [(q, a)])) answers == H t) -> good (fun t => pr M t - H t).
Proof.
  intros HP HT. split; [intros t; specialize (HP t); lra|]. intros t q L I.
  rewrite (sum_ext _ (fun a => pr M (t ++ [(q, a)]) + - (1) * H (t ++ [(q, a)]))) by (intros; ring).
  rewrite sum_plus, sum_scale, HT, pr_total by assumption. ring.
Qed.

(* A mixture with the odds of randomised response, in both orders. *)
Lemma odds_mix g x y b c : (e + 1) * g == e * x + y ->
  g == odds e b c * (if Bool.eqb b c then x else y) + odds e b (negb c) * (if Bool.eqb b (negb c) then x else y).
Proof.
  intros H. assert (Ne : ~ e + 1 == 0) by lra.
  assert (G : g == (e * x + y) / (e + 1)) by (rewrite <- H; field; assumption).
  rewrite G. unfold odds. destruct b, c; cbn [Bool.eqb negb]; field; assumption.
Qed.

(* Every (e, d)-private pair is, up to the horizon, a mixture: with weight d laws X and X' of its own; with weight 1 -
   d a randomised response with odds e followed by U ([HSV25] Lemma 4.7 for finite adversaries; epsilon = 0 is
   allowed). *)
Theorem pieces b : exists (X X' : transcript -> Q) (U : bool -> transcript -> Q),
  good X /\ good X' /\ (forall c, good (U c)) /\ X [] == d /\ (forall c, U c [] == 1 - d) /\
  (forall t, pr m t == X t + (odds e b true * U true t + odds e b false * U false t)) /\
  (forall t, pr m' t == X' t + (odds e (negb b) true * U true t + odds e (negb b) false * U false t)).
Proof.
  pose (p := exist (fits N []) _ all_fits : pairs N []).
  pose (G t := fst (walk N [] t p)). pose (G' t := snd (walk N [] t p)).
  assert (Fit := fun t => walk_fits t N [] p). cbv zeta in Fit. cbn [app] in Fit.
  change (forall t, (0 <= G t <= pr m t) /\ (0 <= G' t <= pr m' t) /\ G t <= e * G' t /\ G' t <= e * G t) in Fit.
  assert (Tot : forall t q, (length t < N)%nat -> In q qs ->
    sum (fun a => G (t ++ [(q, a)])) answers == G t /\ sum (fun a => G' (t ++ [(q, a)])) answers == G' t).
  { intros t q L I. now apply walk_total. }
  assert (G0 : G [] = 1 - d /\ G' [] = 1 - d) by (unfold G, G'; rewrite walk_nil; now split). destruct G0 as [G0 G0'].
  destruct (cone_parts G G') as [same [other [SG [OG [S0 [O0 Eq]]]]]]; try assumption.
  { intros t. split; apply Fit. }
  exists (fun t => pr m t - G t), (fun t => pr m' t - G' t), (fun c => if Bool.eqb b c then same else other).
  split; [apply rest_good; [intros t; apply Fit|intros; now apply Tot]|].
  split; [apply rest_good; [intros t; apply Fit|intros; now apply Tot]|].
  split; [intros c; destruct Bool.eqb; assumption|]. split; [rewrite G0; change (1 - (1 - d) == d); ring|].
  split; [intros c; destruct Bool.eqb; assumption|]. split; intros t; destruct (Eq t) as [E E'].
  - assert (H := odds_mix (G t) (same t) (other t) b true E). cbn [negb] in H. destruct b; cbn [Bool.eqb] in *; lra.
  - assert (F : (e + 1) * G' t == e * other t + same t) by lra.
    assert (H := odds_mix (G' t) (other t) (same t) (negb b) true F). cbn [negb] in H.
    destruct b; cbn [Bool.eqb negb] in *; lra.
Qed.
End Pair.

Section Simulation.
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans) (admit : list Name -> Name -> bool).
Context (loss delta : Name -> Q) (loss_ok : forall n, 1 <= loss n) (delta_ok : forall n, 0 <= delta n <= 1).
Context (children : forall n, approx_dp (loss n) (delta n) (mech n)).
Notation ledger := (@ledger Qry Ans Name).
Notation account := (account admit decode yes no invalid).
Notation log := (log admit decode yes no invalid).
Notation future := (future decode yes no invalid admit).

(* The weight of an account where the first children follow given laws, and the others their own. *)
Fixpoint mass (b : bool) (ls : list (transcript -> Q)) (acc : ledger) : Q :=
  match acc, ls with
  | [], _ => 1
  | (n, h) :: acc, [] => pr (mech n b) h * mass b [] acc
  | (n, h) :: acc, L :: ls => L h * mass b ls acc
  end.

Lemma mass_pos b acc : forall ls, Forall good ls -> 0 <= mass b ls acc.
Proof.
  induction acc as [|[n h] acc IH]; intros [|L ls] F; cbn; try lra; (apply Qmult_le_0_compat; [|apply IH]);
    try constructor; [apply pr_pos| |now inversion F].
  inversion F as [|? ? [P _] ?]. apply P.
Qed.

Lemma mass_nil b acc : mass b [] acc == weight mech b acc.
Proof. unfold weight. induction acc as [|[n h] acc IH]; cbn; [reflexivity|]. now rewrite IH. Qed.

Lemma mass_blind b b' acc : forall ls, (length acc <= length ls)%nat -> mass b ls acc = mass b' ls acc.
Proof. induction acc as [|[n h] acc IH]; intros [|L ls] H; cbn in *; try easy; try lia.
  rewrite (IH ls); [reflexivity|lia]. Qed.

Lemma mass_split b n X U V p r : (forall h, pr (mech n b) h == X h + (p * U h + r * V h)) -> forall ls acc,
  nth_error (map fst acc) (length ls) = Some n ->
  mass b ls acc == 1 * mass b (ls ++ [X]) acc + 1 * (p * mass b (ls ++ [U]) acc + r * mass b (ls ++ [V]) acc).
Proof.
  intros H ls; induction ls as [|L ls IH]; intros [|[m h] acc] E; cbn in E; try discriminate; cbn [mass app].
  - injection E as ->. rewrite H. ring.
  - rewrite (IH acc E). ring.
Qed.

Lemma mass_launch b n L acc : forall ls, length ls = length acc ->
  mass b (ls ++ [L]) (acc ++ [(n, [])]) == mass b ls acc * L [].
Proof.
  induction acc as [|[m h] acc IH]; intros [|K ls] E; cbn in E; try discriminate; cbn [mass app]; [ring|].
  rewrite IH by lia. ring.
Qed.

Lemma mass_later b n acc : forall ls, (length ls <= length acc)%nat -> mass b ls (acc ++ [(n, [])]) == mass b ls acc.
Proof.
  induction acc as [|[m h] acc IH]; intros [|K ls] E; cbn in E; try lia; cbn [mass app].
  - unfold pr. cbn. ring.
  - now rewrite IH by (cbn; lia).
  - now rewrite IH by lia.
Qed.

(* No child has been asked more than what leaves d questions. *)
Definition short (d : nat) (acc : ledger) : Prop := forall x, In x acc -> (length (snd x) + d <= N)%nat.

Lemma mass_ask b q d acc : In q qs -> short (Datatypes.S d) acc -> forall ls j, Forall good ls ->
  (j < length acc)%nat ->
  sum (fun a => or_0 (mass b ls) (extend j (q, a) acc)) answers == mass b ls acc.
Proof.
  intros I. induction acc as [|[n h] acc IH]; intros Sh ls j F J; cbn in J; [lia|].
  assert (Sh' : short (Datatypes.S d) acc) by (intros x Hx; apply Sh; now right).
  assert (Lh : (length h < N)%nat) by (specialize (Sh (n, h) (or_introl eq_refl)); cbn in Sh; lia).
  assert (G : exists L ls', Forall good ls' /\ good L /\ forall h acc, mass b ls ((n,
    h) :: acc) = L h * mass b ls' acc).
  { destruct ls as [|L ls]; [exists (pr (mech n b)), []|inversion F; exists L, ls]; (split;
      [first [constructor|assumption]|split; [first [apply pr_good|assumption]|reflexivity]]). }
  destruct G as [L [ls' [F' [[P T] E]]]]. destruct j as [|j]; cbn [extend].
  - cbn [or_0]. rewrite E. rewrite <- (T h q Lh I), Qmult_comm, <- sum_scale. apply sum_ext; intros a _. rewrite E.
    ring.
  - rewrite E. rewrite <- (IH Sh' ls' j F' ltac:(lia)), <- sum_scale. apply sum_ext; intros a _.
    destruct extend; cbn [option_map or_0]; [now rewrite E|ring].
Qed.

Lemma short_less d acc : short (Datatypes.S d) acc -> short d acc.
Proof. intros H x Hx. specialize (H x Hx). lia. Qed.

Lemma short_extend d x acc : forall j acc1, short (Datatypes.S d) acc -> extend j x acc = Some acc1 -> short d acc1.
Proof.
  induction acc as [|[n h] acc IH]; intros [|j] acc1 H E; cbn in E; try discriminate.
  - injection E as <-. intros y [<-|Hy].
    + specialize (H (n, h) (or_introl eq_refl)). cbn in *. rewrite app_length. cbn. lia.
    + specialize (H y (or_intror Hy)). lia.
  - destruct (extend j x acc) as [acc2|] eqn:X; [|discriminate]. injection E as <-. intros y [<-|Hy].
    + specialize (H (n, h) (or_introl eq_refl)). cbn in *. lia.
    + apply (IH j acc2); try assumption. intros z Hz. apply H. now right.
Qed.

(* What the adversary may still do is within the horizon. *)
Definition ahead (A : adversary) (acc : ledger) : Prop
  := incl (asked decode A) qs /\ short (depth A) acc /\ (depth A <= N)%nat.

Lemma depth_Ask (q : Qry) (k : Ans -> adversary) a : (depth (k a) < depth (Ask q k))%nat.
Proof. assert (H := depth_le q k (pred (depth (Ask q k))) a). destruct (depth (Ask q k)) eqn:D; [cbn in D; lia|].
  cbn [pred] in H. lia. Qed.

Lemma short_mono d d' acc : (d <= d')%nat -> short d' acc -> short d acc.
Proof. intros L H x Hx. specialize (H x Hx). lia. Qed.

Lemma ahead_same q k a acc : ahead (Ask q k) acc -> ahead (k a) acc.
Proof.
  intros [I [Sh L]]. assert (D := depth_Ask q k a).
  split; [|split; [apply (short_mono _ (depth (Ask q k))); [lia|assumption]|lia]].
  intros x Hx. apply I. cbn. apply in_or_app. right. apply in_flat_map. exists a. split; [apply every_all|assumption].
Qed.

Lemma ahead_launch n A acc : ahead A acc -> ahead A (acc ++ [(n, [])]).
Proof. intros [I [Sh L]]. split; [assumption|]. split; [|assumption]. intros x Hx. apply in_app_or in Hx.
  destruct Hx as [Hx|[<-|[]]]; [now apply Sh|exact L]. Qed.

Lemma ahead_extend q k a x j acc acc1 : ahead (Ask q k) acc -> extend j x acc = Some acc1 -> ahead (k a) acc1.
Proof.
  intros H E. destruct (ahead_same q k a acc H) as [I [_ L]]. split; [assumption|]. split; [|assumption].
  apply (short_extend _ x acc j); [|assumption].
  assert (D := depth_Ask q k a). destruct H as [_ [Sh _]]. apply (short_mono _ (depth (Ask q k))); [lia|assumption].
Qed.

Lemma asked_in q k acc j q' : ahead (Ask q k) acc -> decode q = To j q' -> In q' qs.
Proof. intros [I _] De. apply I. cbn. rewrite De. now left. Qed.

Lemma future_pos f acc A T : (forall acc, 0 <= f acc) -> 0 <= future f acc A T.
Proof. intros H. apply sum_pos; intros t _. destruct account; cbn; [apply H|lra]. Qed.

Lemma future_more f acc A T : (forall acc, 0 <= f acc) -> future f acc A T <= future f acc A (fun _ => true).
Proof. intros H. unfold Reduction.future. rewrite !sum_filter. apply sum_le; intros t _. destruct (T t); [lra|].
  destruct account; cbn; [apply H|lra]. Qed.

(* All in all, nothing is lost. *)
Lemma future_total b ls A : Forall good ls -> forall acc, ahead A acc -> (length ls <= length acc)%nat ->
  future (mass b ls) acc A (fun _ => true) == mass b ls acc.
Proof.
  intros F; induction A as [|q k IH]; intros acc Ah L; [unfold Reduction.future; cbn; ring|].
  assert (Only : forall a, (forall a', log acc (q, a') = when a' a acc) ->
    future (mass b ls) acc (Ask q k) (fun _ => true) == mass b ls acc).
  { intros a H. rewrite (future_only decode yes no invalid admit (mass b ls) acc q k (fun _ => true) a acc H).
    apply IH; [now apply (ahead_same q)|assumption]. }
  destruct (decode q) as [n|j q'|] eqn:De.
  - destruct (admit (map fst acc) n) eqn:Ad; [|apply (Only no); intros a'; unfold Filter.log; now rewrite De, Ad].
    assert (H : forall a', log acc (q, a') = when a' yes (acc ++ [(n, [])])) by (intros a'; unfold Filter.log;
      now rewrite De, Ad).
    rewrite (future_only decode yes no invalid admit (mass b ls) acc q k (fun _ => true) yes _ H), IH;
      [now apply mass_later| |rewrite app_length; lia].
    now apply ahead_launch, (ahead_same q).
  - destruct (Nat.ltb_spec j (length acc)) as [Hj|Hj].
    2: { apply (Only invalid). intros a'. unfold Filter.log. rewrite De.
      destruct (extend j (q', a') acc) eqn:X; [|reflexivity].
         exfalso. assert (j < length acc)%nat by (apply (extend_some (q', a')); eauto). lia. }
    rewrite future_Ask. destruct (depth (Ask q k)) as [|d] eqn:Dp; [cbn in Dp; lia|]. destruct Ah as [I [Sh Le]].
    assert (Ah := conj I (conj Sh Le)). fold (ahead (Ask q k) acc) in Ah.
    rewrite Dp in Sh. rewrite <- (mass_ask b q' d acc (asked_in q k acc j q' Ah De) Sh ls j F Hj).
    apply sum_ext; intros a _. unfold Filter.log. rewrite De.
    assert (X := Hj). apply (extend_some (q', a)) in X. destruct X as [acc1 X]. rewrite X. cbn [or_0].
    apply IH; [now apply (ahead_extend q k a (q', a) j acc)|].
    rewrite <- (map_length fst acc1), (extend_names _ _ _ _ X), map_length. assumption.
  - apply (Only invalid). intros a'. unfold Filter.log. now rewrite De.
Qed.

(* The future splits where a child's law splits: into the law X, and randomised response followed by U. *)
Lemma future_pieces b n X (U : bool -> transcript -> Q) ls acc A T : nth_error (map fst acc) (length ls) = Some n ->
  (forall h, pr (mech n b) h == X h + (odds (loss n) b true * U true h + odds (loss n) b false * U false h)) ->
  future (mass b ls) acc A T == future (mass b (ls ++ [X]))
  acc A T + (odds (loss n) b true * future (mass b (ls ++ [U true])) acc A T + odds (loss n) b false * future
  (mass b (ls ++ [U false])) acc A T).
Proof.
  intros Nth H. rewrite (future_ext decode yes no invalid admit _ _ n (length ls) acc A T Nth
    (fun acc' => mass_split b n X (U true) (U false) _ _ H ls acc')).
  rewrite (future_linear decode yes no invalid admit (mass b (ls ++ [X]))
    (fun acc => odds (loss n) b true * mass b (ls ++ [U true]) acc
      + odds (loss n) b false * mass b (ls ++ [U false]) acc) 1 1).
  rewrite (future_linear decode yes no invalid admit (mass b (ls ++ [U true])) (mass b (ls ++ [U false]))). ring.
Qed.

Section Steps.
Context (rule : list Name -> bool) (admit_rule : forall l n, admit l n = true -> rule (l ++ [n]) = true) (b : bool).

(* Some trial gains at least as much as the adversary A: its success counts x for the secret b, and costs y for the
   other. *)
Definition gains (A : adversary) (T : transcript -> bool) (ls : list (transcript ->
  Q)) (acc : ledger) (x y : Q) : Prop :=
  exists g, respects rule (map fst acc) g /\
    x * future (mass b ls) acc A T - y * future (mass (negb b) ls) acc A T
      <= mass b ls acc * (x * succeeds loss delta b g - y * succeeds loss delta (negb b) g).

(* Where the induction is: as many laws as children, all of them good, and the adversary within the horizon. *)
Definition fine (A : adversary) (ls : list (transcript -> Q)) (acc : ledger) : Prop :=
  length ls = length acc /\ Forall good ls /\ ahead A acc.

(* The claim for everything that can follow a question. *)
Definition gains_after (k : Ans -> adversary) : Prop :=
  forall a T ls acc x y, fine (k a) ls acc -> 0 <= x -> 0 <= y -> gains (k a) T ls acc x y.

Lemma gains_stop T ls acc x y : fine Stop ls acc -> gains Stop T ls acc x y.
Proof.
  intros [L _]. exists (Done (T [])). split; [exact I|]. unfold Reduction.future. cbn [Machine.views List.filter].
  destruct (T []); cbn [sum Filter.account or_0 succeeds]; rewrite ?(mass_blind (negb b) b acc ls) by lia; lra.
Qed.

(* Step 1: the answer is certain, and the account stays as it was. *)
Lemma gains_same q k T ls acc x y a : gains_after k -> fine (Ask q k) ls acc -> 0 <= x -> 0 <= y ->
  (forall a', log acc (q, a') = when a' a acc) -> gains (Ask q k) T ls acc x y.
Proof.
  intros IH [L [F Ah]] Hx Hy H.
  destruct (IH a (fun t => T ((q, a) :: t)) ls acc x y (conj L (conj F (ahead_same q k a acc Ah))) Hx Hy) as [g [K G]].
  exists g. split; [assumption|]. now rewrite !(future_only decode yes no invalid admit _ acc q k T a acc H).
Qed.

(* Step 2: a launch is admitted. The trial launches a response; it goes on as after U. *)
Lemma gains_launch n q k T ls acc x y : gains_after k -> fine (Ask q k) ls acc -> 0 <= x -> 0 <= y ->
  decode q = Launch n -> admit (map fst acc) n = true -> gains (Ask q k) T ls acc x y.
Proof.
  intros IH [L [F Ah]] Hx Hy De Ad. set (acc1 := acc ++ [(n, [])]).
  assert (E : map fst acc1 = map fst acc ++ [n]) by (unfold acc1; now rewrite map_app).
  assert (H : forall a', log acc (q, a') = when a' yes acc1) by (intros a'; unfold Filter.log; now rewrite De, Ad).
  assert (Nth : nth_error (map fst acc1) (length ls) = Some n).
  { rewrite E, nth_error_app2 by (rewrite map_length; lia). now rewrite map_length, L, PeanoNat.Nat.sub_diag. }
  assert (Fine : forall M, good M -> fine (k yes) (ls ++ [M]) acc1).
  { intros M G. split; [unfold acc1; now rewrite !app_length, L|]. split; [apply Forall_app; auto|].
    now apply ahead_launch, (ahead_same q). }
  assert (C := children n (negb b)). rewrite negb_involutive in C.
  destruct (pieces (loss n) (delta n) (loss_ok n) (delta_ok n) (mech n b) (mech n (negb b)) (children n b) C b)
    as [X [X' [U [GX [GX' [GU [X0 [U0 [Pb Pb']]]]]]]]].
  set (w := mass b ls acc). set (T' := fun t => T ((q, yes) :: t)).
  assert (G : forall c, exists g, respects rule (map fst acc ++ [n]) g /\
    x * odds (loss n) b c * future (mass b (ls ++ [U c])) acc1 (k yes) T'
      - y * odds (loss n) (negb b) c * future (mass (negb b) (ls ++ [U c])) acc1 (k yes) T'
    <= w * (1 - delta n) * (x * odds (loss n) b c * succeeds loss delta b g
      - y * odds (loss n) (negb b) c * succeeds loss delta (negb b) g)).
  { intros c. destruct (odds_ok (loss n) b c (loss_ok n)), (odds_ok (loss n) (negb b) c (loss_ok n)).
    destruct (IH yes T' (ls ++ [U c]) acc1 (x * odds (loss n) b c) (y * odds (loss n) (negb b) c)) as [g [K G]];
      try apply Qmult_le_0_compat; auto.
    exists g. rewrite <- E. split; [assumption|]. unfold acc1 in G at 3.
    rewrite (mass_launch b n (U c) acc ls L), U0 in G. exact G. }
  destruct (G true) as [g [K G1]], (G false) as [g' [K' G2]].
  exists (Try n (fun r => Done (Bool.eqb r b)) (fun r => if r then g else g')).
  split; [split; [now apply admit_rule|intros [|]; split; try exact I; assumption]|].
  assert (Told : future (mass b (ls ++ [X])) acc1 (k yes) T' <= w * delta n).
  { destruct (Fine X GX) as [L1 [F1 A1]]. eapply Qle_trans; [apply future_more; intros; now apply mass_pos|].
    rewrite future_total by (assumption || lia). unfold acc1. rewrite (mass_launch b n X acc ls L), X0. fold w. lra. }
  assert (Lost : 0 <= future (mass (negb b) (ls ++ [X'])) acc1 (k yes) T').
  { apply future_pos. intros. apply mass_pos, (Fine X' GX'). }
  assert (Go : forall b', future (mass b' ls) acc (Ask q k) T == future (mass b' ls) acc1 (k yes) T').
  { intros b'. exact (future_only decode yes no invalid admit (mass b' ls) acc q k T yes acc1 H). }
  rewrite !Go.
  rewrite (future_pieces b n X U ls acc1 (k yes) T' Nth Pb), (future_pieces (negb b) n X' U ls acc1 (k yes) T' Nth Pb').
  fold w. cbn [succeeds]. rewrite eqb_reflx. replace (Bool.eqb (negb b) b) with false by now destruct b.
  assert (xT := Qmult_le_compat_r _ _ x Told Hx). assert (yL := Qmult_le_0_compat _ _ Hy Lost). lra.
Qed.

(* Step 3: a child is asked. The trial goes on as after the answer that is best for it. *)
Lemma gains_ask j q' q k T ls acc x y : gains_after k -> fine (Ask q k) ls acc -> 0 <= x -> 0 <= y ->
  decode q = To j q' -> (j < length acc)%nat -> gains (Ask q k) T ls acc x y.
Proof.
  intros IH [L [F Ah]] Hx Hy De Hj.
  destruct (depth (Ask q k)) as [|d] eqn:Dp; [cbn in Dp; lia|]. assert (Sh := proj1 (proj2 Ah)). rewrite Dp in Sh.
  pose (w a := or_0 (mass b ls) (extend j (q', a) acc)).
  pose (Z b a := or_0 (fun acc => future (mass b ls) acc (k a) (fun t => T ((q, a) :: t))) (log acc (q, a))).
  destruct (best_answer (Done false) (respects rule (map fst acc))
    (fun g => x * succeeds loss delta b g - y * succeeds loss delta (negb b) g) w
    (fun a => x * Z b a + (- y) * Z (negb b) a) answers) as [g [K G]].
  - exact I.
  - intros a. unfold w. destruct extend; cbn; [now apply mass_pos|lra].
  - intros a. unfold w, Z, Filter.log. rewrite De. assert (X := Hj). apply (extend_some (q', a)) in X.
    destruct X as [acc1 X]. rewrite X. cbn [or_0]. assert (E := extend_names _ _ _ _ X).
    destruct (IH a (fun t => T ((q, a) :: t)) ls acc1 x y) as [g [K G]]; try assumption.
    { split; [now rewrite L, <- (map_length fst acc), <- (map_length fst acc1), E|]. split; [assumption|].
      now apply (ahead_extend q k a (q', a) j acc). }
    rewrite E in K. exists g. split; [assumption|]. lra.
  - exists g. split; [assumption|]. rewrite sum_plus, !sum_scale in G. unfold Z, w in G.
    rewrite <- !future_Ask in G.
    rewrite (mass_ask b q' d acc (asked_in q k acc j q' Ah De) Sh ls j F Hj) in G. lra.
Qed.

(* An adversary that faces the machines gains no more than some trial with responses that keeps the rule. *)
Lemma simulated_delta A : forall T ls acc x y, fine A ls acc -> 0 <= x -> 0 <= y -> gains A T ls acc x y.
Proof.
  induction A as [|q k IH]; intros T ls acc x y Fi Hx Hy; [now apply gains_stop|].
  assert (Same : forall a, (forall a', log acc (q, a') = when a' a acc) -> gains (Ask q k) T ls acc x y).
  { intros a. now apply gains_same. }
  destruct (decode q) as [n|j q'|] eqn:De.
  - destruct (admit (map fst acc) n) eqn:Ad; [now apply (gains_launch n)|].
    apply (Same no). intros a'. unfold Filter.log. now rewrite De, Ad.
  - destruct (Nat.ltb_spec j (length acc)) as [Hj|Hj]; [now apply (gains_ask j q')|].
    apply (Same invalid). intros a'. unfold Filter.log. rewrite De.
    destruct (extend j (q', a') acc) eqn:X; [|reflexivity].
    exfalso. assert (j < length acc)%nat by (apply (extend_some (q', a')); eauto). lia.
  - apply (Same invalid). intros a'. unfold Filter.log. now rewrite De.
Qed.
End Steps.
End Simulation.
End Horizon.

(* The reduction to randomised response with deltas ([HSV25] Thm 12.4): a rule that is valid for adaptively launched
   responses with deltas is valid for all (e, d)-private interactive mechanisms, interleaved, with hidden states. *)
Theorem reduction_delta {Name : Type} (mech : Name -> bool ->
  machine Qry Ans) decode yes no invalid loss delta rule E D :
  (forall n, 1 <= loss n) -> (forall n, 0 <= delta n <= 1) -> (forall n, approx_dp (loss n) (delta n) (mech n)) ->
    0 <= E ->
  trials loss delta rule E D -> valid mech decode yes no invalid rule E D.
Proof.
  intros HL HD HM HE V admit Hadmit b A T.
  destruct (simulated_delta (asked decode A) (depth A) mech decode yes no invalid admit loss delta HL HD HM rule
    Hadmit b A T [] [] 1 E) as [g [K G]]; try lra.
  { split; [reflexivity|]. split; [constructor|]. split; [apply incl_refl|]. split; [intros x []|apply le_n]. }
  specialize (V g K b). cbn [mass] in G.
  assert (S : forall b, seen (filter_machine mech admit decode yes no invalid b) A T
    == future decode yes no invalid admit (mass mech b []) [] A T).
  { intros b'. unfold seen, future. apply sum_ext; intros t _. rewrite law.
    destruct (account _ _ _ _ _ [] t); cbn [or_0]; [|reflexivity]. now rewrite mass_nil. }
  rewrite !S. lra.
Qed.
End Deltas.

(* The responses with deltas, as machines: they answer once, (told, secret) or (not told, response). *)
Section Teller.
Context {Name : Type} (loss delta : Name -> Q) (loss_ok : forall n, 1 <= loss n)
  (delta_ok : forall n, 0 <= delta n <= 1).
Notation message := (Name + nat)%type.
Notation ans := (bool * bool)%type.

(* Equality of these answers is decidable. *)
Definition same_telling : forall a b : ans, {a = b} + {a <> b}.
Proof. decide equality; apply bool_dec. Defined.

(* All of them: (told, bit) and (not told, bit). *)
Definition every_telling : list ans := [(true, true); (true, false); (false, true); (false, false)].

Lemma tellings_all a : In a every_telling.
Proof. destruct a as [[|] [|]]; cbn; auto. Qed.

Lemma tellings_once : NoDup every_telling.
Proof. repeat constructor; cbn; intuition discriminate. Qed.

(* The alphabet of the responses with deltas. *)
Canonical tellings := Alphabet ans same_telling every_telling tellings_all tellings_once.

(* With probability d the secret, else a response; afterwards (not told, false). *)
Definition teller_step (e d : Q) (b asked : bool) : list (Q * (ans * bool)) :=
  if asked then [(1, ((false, false), true))]
  else [(d, ((true, b), true)); ((1 - d) * odds e b true, ((false, true), true));
    ((1 - d) * odds e b false, ((false, false), true))].

(* Randomised response with delta as a machine. *)
Definition teller (n : Name) (b : bool) : machine message tellings.
Proof.
  refine (Machine bool false (fun s _ => teller_step (loss n) (delta n) b s) _ _).
  - intros s _ o H. assert (D := delta_ok n). assert (O := odds_ok (loss n) b true (loss_ok n)).
    assert (O' := odds_ok (loss n) b false (loss_ok n)).
    destruct s; cbn in H; [destruct H as [<-|[]]; cbn; lra|].
    destruct H as [<-|[<-|[<-|[]]]]; cbn; try apply Qmult_le_0_compat; lra.
  - intros s _. destruct s; cbn; [reflexivity|]. assert (O := odds_one (loss n) b true (loss_ok n)). cbn in O.
    transitivity (delta n + (1 - delta n) * (odds (loss n) b true + odds (loss n) b false)); [ring|]. rewrite O. ring.
Defined.

Lemma teller_later n b b' P : play (teller n b) P true == play (teller n b') P true.
Proof.
  induction P as [x|w k IH|q k IH]; cbn [play]; [reflexivity|apply weigh_ext; intros; apply IH|].
  cbn [step teller teller_step sum fst snd]. now rewrite IH.
Qed.

Lemma teller_later_ok n b P : fair P -> 0 <= play (teller n b) P true <= 1.
Proof.
  intros F. split; [now apply play_pos|]. revert F. induction P as [x|w k IH|q k IH]; intros F; cbn [play] in *.
  - destruct x; lra.
  - destruct F as [[Hw One] F]. apply Qle_trans with (weigh w (fun _ => 1)); [apply weigh_le; auto|].
    rewrite weigh_const, One. lra.
  - cbn [step teller teller_step sum fst snd]. rewrite Qplus_0_r, Qmult_1_l. apply IH, F.
Qed.

(* It is (e, d)-private. *)
Theorem teller_private n : approx_dp (loss n) (delta n) (teller n).
Proof.
  assert (L := loss_ok n). assert (D := delta_ok n). intros b. apply (players). intros P.
  change (start (teller n b)) with false. change (start (teller n (negb b))) with false.
  induction P as [x|w k IH|q k IH]; intros F.
  - cbn. destruct x; lra.
  - destruct F as [[Hw One] F]. cbn [play]. apply Qle_trans
      with (weigh w (fun i => loss n * play (teller n (negb b)) (k i) false + delta n)).
    + apply weigh_le; [assumption|]. intros i. apply IH, F.
    + rewrite weigh_plus, weigh_scale, weigh_const, One. lra.
  - cbn [play]. cbn [step teller teller_step sum fst snd]. cbn in F.
    assert (B := fun a => teller_later_ok n (negb b) (k a) (F a)). assert (B1 := B (true, b)).
    assert (B2 := B (true, negb b)). assert (B3 := B (false, true)). assert (B4 := B (false, false)).
    rewrite !(teller_later n b (negb b)). assert (O := odds_pure (loss n) b true L).
    assert (O' := odds_pure (loss n) b false L).
    set (u := play (teller n (negb b)) (k (true, b)) true) in *.
    set (v := play (teller n (negb b)) (k (true, negb b)) true) in *.
    set (x := play (teller n (negb b)) (k (false, true)) true) in *.
    set (y := play (teller n (negb b)) (k (false, false)) true) in *.
    set (d := delta n) in *. set (e := loss n) in *. set (o := odds e b true) in *. set (o' := odds e b false) in *.
    set (r := odds e (negb b) true) in *. set (r' := odds e (negb b) false) in *.
    assert (X := Qmult_le_compat_r _ _ _ O (proj1 B3)). assert (Y := Qmult_le_compat_r _ _ _ O' (proj1 B4)).
    assert (Z : (1 - d) * (o * x + o' * y) <= (1 - d) * (e * r * x + e * r' * y)) by (rewrite !(Qmult_comm (1 - d));
      apply Qmult_le_compat_r; lra).
    assert (U : d * u <= d) by nra. assert (V : 0 <= e * (d * v)) by (repeat apply Qmult_le_0_compat; lra). lra.
Qed.

Notation tellers admit := (filter_machine teller admit launch_or_ask (true, true) (false, false) (false, false)).

(* The player that carries out a trial against the filter of these machines. *)
Fixpoint trying (g : trial Name) (j : nat) : player message ans :=
  match g with
  | Done x => Halt x
  | Try n told heard => Say (inl n) (fun _ => Say (inr j) (fun a : ans => if fst a then trying (told (snd a)) (S j)
    else trying (heard (snd a)) (S j)))
  end.

Lemma ask_last_told b n (s : state (teller n b)) q (cs : list (child teller b)) :
  ask teller (false, false) b (length cs) q (cs ++ [existT (fun n => state (teller n b)) n s]) = map
  (fun o => (fst o, (fst (snd o), cs ++ [existT (fun n => state (teller n b)) n (snd (snd o))])))
  (step (teller n b) s q).
Proof. induction cs as [|[m s'] cs IH]; [reflexivity|]. cbn [length app ask]. rewrite IH, map_map. reflexivity. Qed.

Lemma trying_succeeds rule b g : forall cs, respects rule (names teller b cs) g ->
  play (tellers (by_rule rule) b) (trying g (length cs)) cs == succeeds loss delta b g.
Proof.
  induction g as [x|n told IHt heard IH]; intros cs K; [reflexivity|]. destruct K as [R K].
  assert (F1 : step (tellers (by_rule rule) b) cs (inl n) = [(1, ((true, true),
    cs ++ [existT (fun n => state (teller n b)) n false]))]).
  { change (fstep teller (by_rule rule) launch_or_ask (true, true) (false, false) (false, false) b cs (inl n) = [(1,
      ((true, true), cs ++ [existT (fun n => state (teller n b)) n false]))]).
    unfold fstep. cbn [launch_or_ask]. unfold by_rule. now rewrite R. }
  assert (F2 := ask_last_told b n false (inr O) cs : step (tellers (by_rule rule) b) (cs ++ [existT (fun n => state
    (teller n b)) n false]) (inr (length cs)) = _).
  cbn [trying play]. rewrite F1. cbn [sum fst snd]. rewrite F2.
  change (step (teller n b) false (inr O)) with (teller_step (loss n) (delta n) b false).
  cbn [teller_step map sum fst snd succeeds].
  assert (L : forall s, S (length cs) = length (cs ++ [existT (fun n => state (teller n b)) n s])) by (intros;
    rewrite app_length; cbn; lia).
  assert (N : forall x s, play (tellers (by_rule rule) b) (trying (told x) (S (length cs))) (cs ++ [existT _ n s])
    == succeeds loss delta b (told x) /\
    play (tellers (by_rule rule) b) (trying (heard x) (S (length cs))) (cs ++ [existT _ n s])
      == succeeds loss delta b (heard x)).
  { intros x s. rewrite (L s). split; [apply IHt|apply IH]; unfold names; rewrite map_app; apply K. }
  rewrite (proj1 (N b true)), !(proj2 (N _ true)). ring.
Qed.

(* The rule is valid for trials iff it is valid for the filter of these machines. *)
Theorem tellers_decide rule E D : 0 <= E -> trials loss delta rule E D <->
  valid teller launch_or_ask (true, true) (false, false) (false, false) rule E D.
Proof.
  intros HE. split; [apply reduction_delta; try assumption; apply teller_private|]. intros V g K b.
  assert (H := proj1 (players E D _ _) (V (by_rule rule) (fun _ _ H => H) b) (trying g 0)).
  assert (F : forall j, fair (trying g j)) by (clear; induction g as [|n t IHt h IH]; cbn; auto; intros j _ [[|] ?];
    cbn; auto). specialize (H (F O)).
  assert (W := fun b => trying_succeeds rule b g [] K). cbn [length] in W. cbn [start filter_machine] in H.
  now rewrite !W in H.
Qed.

(* A rule that is valid for the filter of randomised responses with deltas is valid for every other family of (e,
   d)-private mechanisms with the same parameters, over any alphabet. *)
Theorem transfer rule E D : 0 <= E ->
  valid teller launch_or_ask (true, true) (false, false) (false, false) rule E D ->
  forall (Qry : Type) (Ans : alphabet) (mech : Name -> bool -> machine Qry Ans) decode yes no invalid,
  (forall n, approx_dp (loss n) (delta n) (mech n)) -> valid mech decode yes no invalid rule E D.
Proof.
  intros HE V Qry Ans mech decode yes no invalid H.
  apply reduction_delta with loss delta; try assumption. now apply tellers_decide.
Qed.
End Teller.
