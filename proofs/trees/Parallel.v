(* Static parallel composition. The data are split into parts, in advance; a changed record reaches one part. Children
   are launched on one part each, and charged to that part's account only. They are interactive, and interleaved
   across parts. The whole is as private as the worst part. (A part is an account of Tree.v, with a path of one.) If a
   change reaches several parts (a record moves), their bounds compose: parallel_several; or it is a chain of changes:
   distance_pure, distance_approx in Stability.v. *)
From Odometry Require Export Tree Stability.
From Coq Require Import Lia Setoid.

Section Parallel.
Context {Qry : Type} {Ans : alphabet}.
Context {Part Piece : Type} (eqP : forall a b : Part, {a = b} + {a <> b}) (near : Piece -> Piece -> Prop).
Context {Name : Type} (part : Name -> Part) (leaf : Name -> Piece -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).

(* Neighbouring data sets: neighbouring pieces in one part, equal pieces elsewhere. *)
Definition one_part (x y : Part -> Piece) : Prop := exists p, near (x p) (y p) /\ forall p', p' <> p -> x p' = y p'.

(* A child sees its part of the data only. *)
Definition on_part (n : Name) (x : Part -> Piece) : machine Qry Ans := leaf n (x (part n)).

(* Each part has its own rule, over the launches on it. *)
Definition parts (rule : Part -> list Name -> bool) : list Name -> Name -> bool := tree eqP (fun n => [part n]) rule.

Lemma charged_part p n : charged eqP (fun n => [part n]) p n = true <-> part n = p.
Proof. unfold charged. destruct in_dec as [[|[]]|N]; [easy|]. split; [easy|]. intros <-. elim N. now left. Qed.

Lemma other_parts p x y : (forall p', p' <> p -> x p' = y p') ->
  unaffected (fun n => pair (on_part n) x y) eqP (fun n => [part n]) p.
Proof.
  intros Eq n C b t. assert (N : part n <> p) by (intros E; apply charged_part in E; congruence).
  unfold pair, on_part. rewrite (Eq _ N). destruct b; cbn; lra.
Qed.

(* Parallel composition, (epsilon, delta): the whole is as private as the worst part, with children interleaved across
   parts ([HST+23] section 5.2, one changed record). *)
Theorem parallel loss delta E D : (forall n, 1 <= loss n) -> (forall n, 0 <= delta n < 1) ->
  (forall n, private near (approx (loss n) (delta n)) (leaf n)) -> forall worst_E worst_D,
  (forall p, 1 <= E p <= worst_E) -> (forall p, 0 <= D p <= worst_D) ->
  private one_part (approx worst_E worst_D)
    (session on_part decode yes no invalid (parts (fun p => improved loss delta (E p) (D p)))).
Proof.
  intros L De H wE wD HE HD x y [p [N Eq]] b. destruct (HE p), (HD p).
  apply (approx_weaken (E p) (D p)); try assumption.
  eapply approx_ext; [apply session_pair|apply session_pair|].
  apply (sub_account (fun n => pair (on_part n) x y) decode yes no invalid eqP (fun n => [part n])
    (fun p => improved loss delta (E p) (D p)) p loss delta (E p) (D p)); try assumption.
  - auto.
  - apply improved_good. cbn. lra.
  - intros n C. apply charged_part in C. repeat split; try apply De; try apply L. subst p. intros b'.
    assert (K := H n _ _ N b'). destruct b'; exact K.
  - now apply other_parts.
Qed.

(* Parallel composition for pure losses. *)
Theorem parallel_pure loss E : (forall n, private near (pure (loss n)) (leaf n)) -> forall worst_E,
  (forall p, 1 <= E p <= worst_E) ->
  private one_part (pure worst_E) (session on_part decode yes no invalid (parts (fun p => within loss (E p)))).
Proof.
  intros H wE HE x y [p [N Eq]] b. destruct (HE p).
  apply (pure_weaken (E p)); [assumption|].
  assert (P := sub_account_pure (fun n => pair (on_part n) x y) decode yes no invalid
    eqP (fun n => [part n]) (fun p => within loss (E p)) p loss (E p)).
  assert (F : pure_dp (E p) (filter_machine (fun n => pair (on_part n) x y) (parts (fun p => within loss (E p)))
    decode yes no invalid)).
  { apply P; auto.
    - unfold within. now apply Qle_bool_iff.
    - intros n C. apply charged_part in C. subst p. intros b'. assert (K := H n _ _ N b'). destruct b'; exact K.
    - now apply other_parts. }
  intros t. rewrite <- (session_pair (fun n x => on_part n x)), <- (session_pair (fun n x => on_part n x)). apply F.
Qed.

(* A change that reaches several parts: n changed records reach at most n, a record that moves reaches two. The parts
   it reaches compose; which they are need not be known. (Better than a chain of changes: the deltas are not
   multiplied.) *)
Section Several.
Context (loss delta : Name -> Q) (E D : Part -> Q).
Context (loss_ok : forall n, 1 <= loss n) (delta_ok : forall n, 0 <= delta n < 1) (E_ok : forall p, 1 <= E p)
  (D_ok : forall p, 0 <= D p <= 1).
Context (leaf_private : forall n, private near (approx (loss n) (delta n)) (leaf n)).
Notation mine p l := (mine eqP (fun n => [part n]) p l).

(* Neighbouring data sets: neighbouring pieces in the parts S, equal pieces elsewhere. *)
Definition these_parts (S : list Part) (x y : Part -> Piece) : Prop :=
  NoDup S /\ (forall p, In p S -> near (x p) (y p)) /\ forall p, ~ In p S -> x p = y p.

(* f for launches on one of the parts S, and z for the others. *)
Definition reached (S : list Part) (f : Name -> Q) (z : Q) (n : Name) : Q := if in_dec eqP (part n) S then f n else z.

Lemma prod_times {X} (f g : X -> Q) l : product_of (fun x => f x * g x) l == product_of f l * product_of g l.
Proof. induction l as [|x l IH]; cbn [product_of]; [ring|]. rewrite IH. ring. Qed.

Lemma prod_le {X} (f g : X -> Q) l : (forall x, In x l -> 0 <= f x <= g x) -> 0 <= product_of f l <= product_of g l.
Proof.
  induction l as [|x l IH]; intros H; cbn [product_of]; [lra|]. destruct (H x (or_introl eq_refl)) as [P1 P2].
  destruct (IH (fun y I => H y (or_intror I))) as [P3 P4]. split; [now apply Qmult_le_0_compat|now apply qmult_le].
Qed.

Lemma one_factor (f : Name -> Q) n S : NoDup S ->
  product_of (fun p => if eqP (part n) p then f n else 1) S == reached S f 1 n.
Proof.
  unfold reached. induction 1 as [|p S Np _ IH]; [reflexivity|]. cbn [product_of]. rewrite IH.
  destruct (eqP (part n) p) as [e|e], (in_dec eqP (part n) S) as [i|i], (in_dec eqP (part n) (p :: S)) as [j|j];
    try ring; exfalso; subst; cbn in *; intuition congruence.
Qed.

Lemma split_parts (f : Name -> Q) S l : NoDup S ->
  product_of (fun p => product_of f (mine p l)) S == product_of (reached S f 1) l.
Proof.
  intros N. induction l as [|n l IH]; cbn [product_of].
  - induction S as [|p S IHS]; [reflexivity|]. cbn. inversion N. rewrite IHS by assumption. reflexivity.
  - rewrite <- IH, <- (one_factor f n S N), <- prod_times. clear IH N. induction S as [|p S IHS]; [reflexivity|].
    cbn [product_of]. rewrite IHS. apply Qmult_comp; [|reflexivity]. unfold Tree.mine at 1. cbn [List.filter].
    fold (mine p l).
    unfold charged. destruct (in_dec eqP p [part n]) as [[e|[]]|e], (eqP (part n) p) as [e'|e']; cbn [product_of];
      try ring; exfalso; subst; cbn in *; intuition.
Qed.

(* A change that reaches the parts S costs the composition of their bounds: the product of E p and 1 - product of (1 -
   D p). *)
Theorem parallel_several S : private (these_parts S) (approx (product_of E S) (1 - product_of (fun p => 1 - D p) S))
  (session on_part decode yes no invalid (parts (fun p => improved loss delta (E p) (D p)))).
Proof.
  intros x y [N [Near Eq]] b. eapply approx_ext; [apply session_pair|apply session_pair|]. revert b.
  pose (ok l := forallb (fun p => improved loss delta (E p) (D p) (mine p l)) S).
  assert (E1 : 1 <= product_of E S). { clear - E_ok. induction S as [|p S IH]; cbn [product_of]; [lra|].
  specialize (E_ok p). nra. }
  assert (D1 : 0 <= product_of (fun p => 1 - D p) S <= product_of (fun _ => 1) S) by (apply prod_le; intros p _;
    destruct (D_ok p); lra).
  assert (One : product_of (fun _ : Part => 1) S == 1). { clear.
  induction S as [|p S IH]; cbn [product_of]; [reflexivity|]. rewrite IH. reflexivity. }
  apply (valid_kept (fun n => pair (on_part n) x y) decode yes no invalid ok).
  - intros admit Ad. apply (improved_valid _ decode yes no invalid (reached S loss 1) (reached S delta 0)); try lra.
    + intros n. unfold reached. destruct in_dec; [apply loss_ok|lra].
    + intros n. unfold reached. destruct in_dec; [apply delta_ok|lra].
    + intros n b. unfold reached. destruct in_dec as [I|I].
      * exact (leaf_private n _ _ (Near _ I) b).
      * intros A T. unfold pair, on_part. rewrite (Eq _ I). destruct b; cbn; lra.
    + intros l n H. specialize (Ad l n H). unfold ok in Ad. rewrite forallb_forall in Ad. apply improved_good.
      assert (G : forall p, In p S -> product_of loss (mine p (l ++ [n])) <= E p /\ 1 - D p
        <= product_of (kept_of delta) (mine p (l ++ [n]))).
      { intros p I. apply improved_good. now apply Ad. }
      split.
      * rewrite <- split_parts by assumption. apply prod_le. intros p I. split; [|apply G, I].
        apply prod_ge_0. intros m. specialize (loss_ok m). lra.
      * assert (K : product_of (kept_of (reached S delta 0)) (l ++ [n])
          == product_of (reached S (kept_of delta) 1) (l ++ [n])).
        { clear. induction (l ++ [n]) as [|m l' IH]; [reflexivity|]. cbn [product_of]. apply Qmult_comp; [|exact IH].
          unfold kept_of, reached. destruct in_dec; [reflexivity|]. ring. }
        rewrite K, <- split_parts by assumption.
        assert (H' : 0 <= product_of (fun p => 1 - D p) S
          <= product_of (fun p => product_of (kept_of delta) (mine p (l ++ [n]))) S).
        { apply prod_le. intros p I. destruct (D_ok p). split; [lra|apply G, I]. }
        lra.
  - unfold ok. apply forallb_forall. intros p _. apply improved_good. cbn. destruct (D_ok p). specialize (E_ok p). lra.
  - intros l n G H. unfold ok in *. rewrite forallb_forall in *. intros p I. specialize (G p I). rewrite mine_app.
    destruct (charged eqP (fun n => [part n]) p n) eqn:C; [|now rewrite app_nil_r].
    exact (tree_charged eqP (fun n => [part n]) (fun p => improved loss delta (E p) (D p)) p l n C H).
Qed.
End Several.
End Parallel.

(* Pairs of data sets that the adversary chooses at each launch ([HSV25] Cor 5.15 = Thm 1.3, with the improved basic
   bound): a mechanism that is launched on the same data set twice costs nothing, in e and in delta. So any number of
   them may be launched; only those launched on two different data sets are charged. Which ones is adaptive. *)
Section Chosen.
Context {Qry : Type} {Ans : alphabet}.
Context {Data Kind : Type} (eqD : forall x y : Data, {x = y} + {x <> y}) (near : Data -> Data -> Prop).
Context (leaf : Kind -> Data -> machine Qry Ans) (loss delta : Kind -> Q).
Context (loss_ok : forall n, 1 <= loss n) (delta_ok : forall n, 0 <= delta n < 1).
Context (leaf_private : forall n, private near (approx (loss n) (delta n)) (leaf n)).

(* What to launch, and two data sets for it, which are equal or neighbours. *)
Record pick := Pick { kind : Kind; one : Data; other : Data; fit : one = other \/ near one other }.

(* The mechanism, on the data set that the bit chooses. *)
Definition picked (n : pick) (b : bool) : machine Qry Ans := leaf (kind n) (if b then one n else other n).

(* Equal data sets cost nothing. *)
Definition pick_loss (n : pick) : Q := if eqD (one n) (other n) then 1 else loss (kind n).

(* Equal data sets cost no delta. *)
Definition pick_delta (n : pick) : Q := if eqD (one n) (other n) then 0 else delta (kind n).

(* Data sets chosen at each launch: any number of launches on equal data sets is free; the others are charged, with
   the improved basic rule. Which launches are which is adaptive ([HSV25] Cor 5.15 with this bound). *)
Theorem chosen (decode : Qry -> command pick Qry) yes no invalid E D : 1 <= E -> 0 <= D ->
  approx_dp E D (filter_machine picked (by_rule (improved pick_loss pick_delta E D)) decode yes no invalid).
Proof.
  apply improved_filter; try assumption.
  - intros n. unfold pick_loss. destruct eqD; [lra|apply loss_ok].
  - intros n. unfold pick_delta. destruct eqD; [lra|apply delta_ok].
  - intros n b. unfold pick_loss, pick_delta, picked. destruct (eqD (one n) (other n)) as [Eq|Ne].
    + rewrite Eq. intros A T. destruct b; cbn; lra.
    + destruct (fit n) as [Eq|N]; [contradiction|]. assert (K := leaf_private (kind n) _ _ N b). destruct b; exact K.
Qed.
End Chosen.
