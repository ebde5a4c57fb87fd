(* (epsilon, delta): the filter and the truncated view of the odometer, for every finite adversary. No simulation by
   randomized response; no bound on children or messages but that the adversary is finite. *)
From Odometry Require Export Potential Odometer Approximate.
From Coq Require Import Lia Morphisms.

Section Approximate.
Context {Qry : Type} {Ans : alphabet}.
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Context (loss delta : Name -> Q) (loss_ok : forall n, 1 <= loss n) (delta_ok : forall n, 0 <= delta n < 1).
Context (children : forall n, approx_dp (loss n) (delta n) (mech n)).

(* 1 - delta. *)
Definition kept_of (n : Name) : Q := 1 - delta n.

(* The improved basic rule: (product of e_j, 1 - product of (1 - d_j)) is within (E, D). *)
Definition improved (E D : Q) (l : list Name) : bool
  := Qle_bool (product_of loss l) E && Qle_bool (1 - D) (product_of kept_of l).

Lemma improved_good E D l : improved E D l = true <-> product_of loss l <= E /\ 1 - D <= product_of kept_of l.
Proof. unfold improved. now rewrite andb_true_iff, !Qle_bool_iff. Qed.

Lemma improved_closed E D : 1 <= E -> 0 <= D -> closed (improved E D).
Proof.
  intros HE HD. split; [apply improved_good; cbn; lra|]. intros l n. rewrite !improved_good, !prod_app. intros [H H'].
  assert (L := loss_ok n). assert (M := delta_ok n). unfold kept_of at 2 in H'.
  assert (0 <= product_of loss l) by (apply prod_ge_0; intros m; specialize (loss_ok m); lra).
  assert (0 <= product_of kept_of l) by (apply prod_ge_0; intros m; unfold kept_of; destruct (delta_ok m); lra).
  split; nra.
Qed.

(* The improved basic rule is valid: every filter that admits at most what it does is (E, D)-private. *)
Theorem improved_valid E D : 1 <= E -> 0 <= D -> valid mech decode yes no invalid (improved E D) E D.
Proof.
  intros HE HD admit Hadmit b. apply approx_common; try assumption.
  assert (loss_pos : forall n, 0 <= loss n) by (intros n; specialize (loss_ok n); lra).
  destruct (Qlt_le_dec (1 - D) 0) as [Neg|Pos].
  { intros A. apply Qle_trans with 0; [lra|]. apply total_pos, common_functional. lra. }
  apply (potential_composition at_least mech decode yes no invalid admit
    (fun n => common (loss n)) kept_of) with (good := fun l => improved E D l = true); try assumption.
  - intros n. now apply common_functional.
  - intros n. unfold kept_of. destruct (delta_ok n). lra.
  - intros n. apply approx_common; try assumption. apply children.
  - apply common_functional. lra.
  - unfold common, qmin. destruct Qle_bool; ring.
  - now apply improved_closed.
  - intros l n _. apply Hadmit.
  - intros l H. now apply improved_good in H.
  - intros acc G. apply improved_good in G. destruct G as [G _]. set (p := product _ acc).
    assert (P : 0 <= p) by (apply product_pos; intros x; apply common_functional; auto; apply pr_pos).
    assert (L : p <= weight mech b acc /\ p <= product_of loss (map fst acc) * weight mech (negb b) acc).
    { subst p. clear P G. induction acc as [|[n h] acc [IH IH']]; [cbn; lra|]. unfold weight in *.
      cbn [product map product_of fst snd] in *.
      set (w := product _ acc) in *. set (x := product (fun c => pr (mech (fst c) b) (snd c)) acc) in *.
      assert (W : 0 <= w) by (apply product_pos; intros y; apply common_functional; auto; apply pr_pos).
      destruct (common_le (loss n) (pr (mech n b) h) (pr (mech n (negb b)) h)) as [C C'].
      assert (C0 : 0 <= common (loss n) (pr (mech n b) h) (pr (mech n (negb b)) h)) by (apply common_functional;
        auto; apply pr_pos).
      split; [now apply qmult_le|]. eapply Qle_trans; [apply qmult_le; [exact C0|exact W|exact C'|exact IH']|]. lra. }
    destruct L as [L L']. unfold common, qmin. destruct Qle_bool; [assumption|]. eapply Qle_trans; [exact L'|].
    apply Qmult_le_compat_r; [assumption|]. apply product_pos; intros; apply pr_pos.
Qed.

(* The (epsilon, delta) filter: launches with adaptively chosen losses, interleaved children with hidden states;
   budget: sum of the epsilons at most ln E, 1 - product of (1 - delta_j) at most D (ImprovedBasic; the shape of
   [HST+23] Cor 3.5). *)
Theorem improved_filter E D : 1 <= E -> 0 <= D ->
  approx_dp E D (filter_machine mech (by_rule (improved E D)) decode yes no invalid).
Proof. intros HE HD. now apply improved_valid. Qed.

(* The basic rule: sums of deltas. *)
Definition basic (E D : Q) (l : list Name) : bool := Qle_bool (product_of loss l) E && Qle_bool (sum delta l) D.

Lemma union_bound l : 1 - sum delta l <= product_of kept_of l <= 1.
Proof.
  induction l as [|n l [IH IH']]; cbn; [lra|]. unfold kept_of in *. destruct (delta_ok n).
  assert (0 <= product_of (fun n => 1 - delta n) l) by (apply prod_ge_0; intros m; destruct (delta_ok m); lra).
  split; nra.
Qed.

(* The basic rule (sum of the epsilons, sum of the deltas) is valid (Basic<ApproxDp>). *)
Theorem basic_valid E D : 1 <= E -> 0 <= D -> valid mech decode yes no invalid (basic E D) E D.
Proof.
  intros HE HD admit H. apply improved_valid; try assumption. intros l n Ad. apply H, andb_prop in Ad.
  destruct Ad as [H1 H2].
  apply Qle_bool_iff in H1, H2. apply improved_good. split; [assumption|]. destruct (union_bound (l ++ [n])). lra.
Qed.
End Approximate.
