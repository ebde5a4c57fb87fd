(* Data sets of any type, with any relation of neighbours, in place of the bit; groups of changes; launches through
   stable transformations. The theorems about pairs (bool -> machine) apply to the pair of every two neighbours. *)
From Odometry Require Export ApproximateFilter RenyiFilter.
From Coq Require Import Lia Setoid.

Section Chains.
Context {Qry : Type} {Ans : alphabet}.
Notation machine := (machine Qry Ans).

Lemma seen_pos (m : machine) A T : 0 <= seen m A T.
Proof. apply sum_pos; intros t _. apply pr_pos. Qed.

Lemma approx_weaken e d e' d' (m m' : machine) : e <= e' -> d <= d' -> approx e d m m' -> approx e' d' m m'.
Proof.
  intros He Hd H A T. specialize (H A T). assert (P := seen_pos m' A T).
  assert (e * seen m' A T <= e' * seen m' A T) by now apply Qmult_le_compat_r. lra.
Qed.

Lemma pure_weaken e e' (m m' : machine) : e <= e' -> pure e m m' -> pure e' m m'.
Proof. intros He H t. eapply Qle_trans; [apply H|]. apply Qmult_le_compat_r; [assumption|apply pr_pos]. Qed.

(* Only the laws of transcripts matter. *)
Lemma seen_ext (m1 m2 : machine) : (forall t, pr m1 t == pr m2 t) -> forall A T, seen m1 A T == seen m2 A T.
Proof. intros H A T. apply sum_ext; intros t _. apply H. Qed.

Lemma approx_ext e d (m1 m2 m1' m2' : machine) : (forall t, pr m1 t == pr m2 t) -> (forall t, pr m1' t == pr m2' t) ->
  approx e d m1 m1' -> approx e d m2 m2'.
Proof. intros H H' K A T. rewrite <- (seen_ext m1 m2 H A T), <- (seen_ext m1' m2' H' A T). apply K. Qed.

(* One step after another. *)
Lemma approx_then e d e' d' (m1 m2 m3 : machine) : 0 <= e -> approx e d m1 m2 -> approx e' d' m2 m3 ->
  approx (e * e') (d + e * d') m1 m3.
Proof.
  intros He H H' A T. specialize (H A T). specialize (H' A T).
  assert (e * seen m2 A T <= e * (e' * seen m3 A T + d')) by (rewrite !(Qmult_comm e); now apply Qmult_le_compat_r).
  lra.
Qed.

Lemma pure_then e e' (m1 m2 m3 : machine) : 0 <= e -> pure e m1 m2 -> pure e' m2 m3 -> pure (e * e') m1 m3.
Proof.
  intros He H H' t. specialize (H t). specialize (H' t).
  assert (e * pr m2 t <= e * (e' * pr m3 t)) by (rewrite !(Qmult_comm e); now apply Qmult_le_compat_r). lra.
Qed.

(* 1 + e + ... + e^(k-1). *)
Fixpoint geometric (e : Q) (k : nat) : Q := match k with O => 0 | S k => 1 + e * geometric e k end.

Lemma geometric_last e k : geometric e (S k) == geometric e k + pow e k.
Proof. induction k as [|k IH]; [cbn; ring|]. cbn [geometric pow] in *. rewrite IH at 1. ring. Qed.

Lemma geometric_pos e k : 0 <= e -> 0 <= geometric e k.
Proof. intros He; induction k as [|k IH]; cbn; [lra|].
  assert (0 <= e * geometric e k) by now apply Qmult_le_0_compat. lra. Qed.

Lemma pow_up e j k : 1 <= e -> (j <= k)%nat -> pow e j <= pow e k.
Proof.
  intros He; induction 1 as [|k _ IH]; [lra|]. cbn. assert (0 <= pow e k) by (apply pow_ge_0; lra). nra.
Qed.

Lemma geometric_up e j k : 0 <= e -> (j <= k)%nat -> geometric e j <= geometric e k.
Proof. intros He; induction 1 as [|k _ IH]; [lra|]. rewrite geometric_last.
  assert (0 <= pow e k) by now apply pow_ge_0. lra. Qed.

(* The machines on two data sets, as a pair. *)
Definition pair {Data} (M : Data -> machine) (x y : Data) (b : bool) : machine := if b then M x else M y.

(* Privacy of a mechanism on data sets: for every two neighbours, both directions of "close" hold for the two
   machines. The relation of neighbours is any; it need not be symmetric. *)
Definition private {Data} (near : Data -> Data -> Prop) (close : machine -> machine -> Prop) (M : Data ->
  machine) : Prop :=
  forall x y, near x y -> both close (pair M x y).

(* It is one direction, for the symmetric relation. *)
Lemma private_symmetric {Data} (near : Data -> Data -> Prop) close M : (forall x y, near x y -> near y x) ->
  (private near close M <-> forall x y, near x y -> close (M x) (M y)).
Proof.
  intros S. split; [intros H x y N; exact (H x y N true)|]. intros H x y N [|]; cbn; auto.
Qed.

(* And a pair is a mechanism on bits. *)
Lemma private_bits close (M : bool -> machine) : private (fun x y => x <> y) close M <-> both close M.
Proof.
  split.
  - intros H b. assert (N : b <> negb b) by now destruct b. exact (H b (negb b) N true).
  - intros H [|] [|] N [|]; try congruence; cbn; try apply (H true); apply (H false).
Qed.

(* A chain of k changes. *)
Section Group.
Context {Data : Type} (near : Data -> Data -> Prop).

(* y is reached from x by a chain of k changes. *)
Inductive chain : nat -> Data -> Data -> Prop :=
| here x : chain 0 x x
| there k x y z : near x y -> chain k y z -> chain (S k) x z.

(* y is reached from x by a chain of at most k changes. *)
Definition distance (k : nat) (x y : Data) : Prop := exists j, (j <= k)%nat /\ chain j x y.

(* Group privacy for pure losses: k changes cost e^k (GroupPrivacy for PureDp). *)
Theorem group_pure e M : 0 <= e -> private near (pure e) M -> forall k, private (chain k) (pure (pow e k)) M.
Proof.
  intros He H k x y C b. revert b; induction C as [x|k x y z N C IH]; intros b.
  - intros t. destruct b; cbn; lra.
  - assert (L := H x y N). destruct b; cbn in *.
    + apply (pure_then _ _ _ (M y)); [assumption|apply (L true)|apply (IH true)].
    + assert (P := pure_then (pow e k) e (M z) (M y) (M x) (pow_ge_0 e k He) (IH false) (L false)).
      intros t. specialize (P t). cbn in P. rewrite (Qmult_comm e). exact P.
Qed.

(* Group privacy for (epsilon, delta): k changes cost (e^k, d (1 + e + ... + e^(k-1))) (GroupPrivacy for ApproxDp;
   [Vad17] Lemma 2.2). *)
Theorem group_approx e d M : 0 <= e -> private near (approx e d) M ->
  forall k, private (chain k) (approx (pow e k) (d * geometric e k)) M.
Proof.
  intros He H k x y C b. revert b; induction C as [x|k x y z N C IH]; intros b.
  - intros A T. destruct b; cbn; lra.
  - assert (L := H x y N). destruct b; cbn in *; intros A T.
    + assert (P := approx_then e d _ _ (M x) (M y) (M z) He (L true) (IH true) A T). cbn in P. lra.
    + assert (P := approx_then _ _ e d (M z) (M y) (M x) (pow_ge_0 e k He) (IH false) (L false) A T). cbn in P.
      assert (G := geometric_last e k). cbn in G. rewrite G, (Qmult_comm e). lra.
Qed.

(* The same for data sets at distance at most k. *)
Theorem distance_pure e M : 1 <= e -> private near (pure e) M -> forall k, private (distance k) (pure (pow e k)) M.
Proof.
  intros He H k x y [j [J C]] b. assert (He0 : 0 <= e) by lra.
  apply (pure_weaken (pow e j)); [now apply pow_up|]. exact (group_pure e M He0 H j x y C b).
Qed.

(* The same for (epsilon, delta). *)
Theorem distance_approx e d M : 1 <= e -> 0 <= d -> private near (approx e d) M ->
  forall k, private (distance k) (approx (pow e k) (d * geometric e k)) M.
Proof.
  intros He Hd H k x y [j [J C]] b. assert (He0 : 0 <= e) by lra. apply (approx_weaken (pow e j) (d * geometric e j)).
  - now apply pow_up.
  - rewrite !(Qmult_comm d). apply Qmult_le_compat_r; [now apply geometric_up|assumption].
  - exact (group_approx e d M He0 H j x y C b).
Qed.

(* A transformation is c-stable if it takes neighbours to data sets at distance at most c. *)
Definition stable {Data'} (near' : Data' -> Data' -> Prop) (c : nat) (f : Data' -> Data) : Prop :=
  forall x y, near' x y -> distance c (f x) (f y).

(* A pure mechanism behind a c-stable transformation costs e^c. *)
Theorem stable_pure {Data'} (near' : Data' -> Data' -> Prop) c f e M : 1 <= e -> private near (pure e) M ->
  stable near' c f ->
  private near' (pure (pow e c)) (fun x => M (f x)).
Proof. intros He H S x y N b. assert (P := distance_pure e M He H c (f x) (f y) (S x y N) b). destruct b; exact P. Qed.

(* An (e, d)-private mechanism behind a c-stable transformation costs (e^c, d (1 + ... + e^(c-1))). *)
Theorem stable_approx {Data'} (near' : Data' -> Data' -> Prop) c f e d M : 1 <= e -> 0 <= d ->
  private near (approx e d) M ->
  stable near' c f -> private near' (approx (pow e c) (d * geometric e c)) (fun x => M (f x)).
Proof. intros He Hd H S x y N b. assert (P := distance_approx e d M He Hd H c (f x) (f y) (S x y N) b).
  destruct b; exact P. Qed.
End Group.
End Chains.

(* Filters on data sets. *)
Section Session.
Context {Qry : Type} {Ans : alphabet}.
Context {Data : Type} (near : Data -> Data -> Prop).
Context {Name : Type} (mech : Name -> Data -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Notation pairs x y := (fun n => pair (mech n) x y).

(* The filter on a data set x: all mechanisms that it launches run on x. *)
Definition session (admit : list Name -> Name -> bool) (x : Data) : machine Qry Ans :=
  filter_machine (fun n _ => mech n x) admit decode yes no invalid true.

(* On every two data sets it is, as a pair, the filter of the pairs. *)
Lemma session_pair admit x y b t :
  pr (filter_machine (pairs x y) admit decode yes no invalid b) t == pr (pair (session admit) x y b) t.
Proof.
  unfold session, pair. destruct b; rewrite !law; destruct (account _ _ _ _ _ [] t) as [acc|]; try reflexivity;
    clear t; unfold weight; induction acc as [|c acc IH]; cbn; try reflexivity; now rewrite IH.
Qed.

(* Any notion of closeness that only looks at laws: what holds of the filter of every pair holds of the filter on
   data. *)
Theorem sessions_close (close : machine Qry Ans -> machine Qry Ans ->
  Prop) : (forall m1 m2 m1' m2' : machine Qry Ans, (forall t, pr m1 t == pr m2 t) ->
    (forall t, pr m1' t == pr m2' t) -> close m1 m1' -> close m2 m2') ->
  forall admit, (forall x y, near x y -> both close (filter_machine (pairs x y) admit decode yes no invalid)) ->
    private near close (session admit).
Proof.
  intros Ext admit H x y N b. apply (Ext (filter_machine (pairs x y) admit decode yes no invalid b) _ (filter_machine
    (pairs x y) admit decode yes no invalid (negb b)));
    [intros t; apply session_pair|intros t; apply session_pair|now apply H].
Qed.

(* Every rule that is valid for every two neighbours makes the filter private on data sets. *)
Theorem sessions rule E D : (forall x y, near x y -> valid (pairs x y) decode yes no invalid rule E D) ->
  forall admit, (forall l n, admit l n = true -> rule (l ++ [n]) = true) -> private near (approx E D) (session admit).
Proof.
  intros V admit H x y N b. eapply approx_ext; [apply session_pair|apply session_pair|]. now apply V.
Qed.

(* The (epsilon, delta) filter on data sets: budget (E, D), improved basic rule. *)
Theorem session_approx loss delta : (forall n, 1 <= loss n) -> (forall n, 0 <= delta n < 1) ->
  (forall n, private near (approx (loss n) (delta n)) (mech n)) -> forall E D, 1 <= E -> 0 <= D ->
  private near (approx E D) (session (by_rule (improved loss delta E D))).
Proof.
  intros L De H E D HE HD. apply (sessions (improved loss delta E D)); [|easy].
  intros x y N. apply improved_valid; try assumption. intros n. now apply H.
Qed.

(* The pure filter on data sets. *)
Theorem session_pure loss : (forall n, private near (pure (loss n)) (mech n)) -> forall E, 1 <= E ->
  private near (pure E) (session (by_rule (within loss E))).
Proof.
  intros H E HE. apply sessions_close.
  - intros m1 m2 m1' m2' L L' K t. rewrite <- L, <- L'. apply K.
  - intros x y N. apply pure_filter; [|assumption]. intros n. now apply H.
Qed.

(* The Renyi filter on data sets. *)
Theorem session_renyi k loss : (forall n, private near (renyi_close k (loss n)) (mech n)) -> forall R, 1 <= R ->
  private near (renyi_close k R) (session (by_rule (within loss R))).
Proof.
  intros H R HR. apply sessions_close.
  - intros m1 m2 m1' m2' L L' [K Z]. split; [|intros t; rewrite <- L, <- L'; apply Z].
    intros A. cbn beta. eapply Qle_trans; [|exact (K A)]. apply Qle_lteq; right. apply sum_ext; intros t _.
    apply renyi_functional; symmetry; [apply L|apply L'].
  - intros x y N. apply renyi_filter; try assumption. intros n. now apply H.
Qed.
End Session.

(* Launches through stable transformations, onto data of any type, each with its own neighbours. (A name may carry its
   transformation; it cannot carry the machine itself, because a filter is a machine again.) *)
Section Launches.
Context {Qry : Type} {Ans : alphabet}.
Context {Data : Type} (near : Data -> Data -> Prop).
Context {Name : Type} (Inner : Name -> Type) (inner_near : forall n, Inner n -> Inner n -> Prop).
Context (leaf : forall n, Inner n -> machine Qry Ans) (leaf_e leaf_d : Name -> Q).
Context (leaf_ok : forall n, 1 <= leaf_e n /\ 0 <= leaf_d n).
Context (leaf_private : forall n, private (inner_near n) (approx (leaf_e n) (leaf_d n)) (leaf n)).
Context (via : forall n, Data -> Inner n) (times : Name -> nat).
Context (via_stable : forall n, stable (inner_near n) near (times n) (via n)).

(* The mechanism of name n, launched through its transformation. *)
Definition launched (n : Name) (x : Data) : machine Qry Ans := leaf n (via n x).

(* What this launch costs in e. *)
Definition cost_e (n : Name) : Q := pow (leaf_e n) (times n).

(* What this launch costs in delta. *)
Definition cost_d (n : Name) : Q := leaf_d n * geometric (leaf_e n) (times n).

(* The filter on data sets, whose launches go through stable transformations and are charged at the group's price, is
   (E, D)-private. *)
Theorem stable_launches (decode : Qry -> command Name Qry) yes no invalid E D : 1 <= E -> 0 <= D ->
  (forall n, cost_d n < 1) ->
  private near (approx E D) (session launched decode yes no invalid (by_rule (improved cost_e cost_d E D))).
Proof.
  intros HE HD C. apply session_approx; try assumption.
  - intros n. destruct (leaf_ok n) as [H _]. apply (pow_up _ 0 _ H). lia.
  - intros n. destruct (leaf_ok n) as [H H']. split; [|apply C].
    apply Qmult_le_0_compat; [assumption|]. apply geometric_pos. lra.
  - intros n. destruct (leaf_ok n) as [H H']. unfold launched.
    apply (stable_approx (inner_near n) near (times n) (via n) _ _ (leaf n)); try assumption;
      [apply leaf_private|apply via_stable].
Qed.
End Launches.
