(* A measure of privacy: a functional of the two laws, phi(P(t), P'(t)), summed over the views t of an adversary, and
   bounded. The worst case over adversaries, by recursion over histories. *)
From Odometry Require Export Machine.
From Coq Require Import Lia Setoid Morphisms.

(* The two directions in which a measure is compared: "at least c in common" and "at most r of divergence". What the
   proofs need of <= or >=. *)
Record direction (le : Q -> Q -> Prop) := {
  le_eq : forall x y, x == y -> le x y;
  le_trans : forall x y z, le x y -> le y z -> le x z;
  le_plus : forall a b c d, le a b -> le c d -> le (a + c) (b + d);
  le_mult : forall a b c d, 0 <= a -> 0 <= b -> 0 <= c -> 0 <= d -> le a b -> le c d -> le (a * c) (b * d);
  le_cancel : forall a b c, 0 < c -> le (a * c) (b * c) -> le a b;
  le_total : forall x y, {le x y} + {le y x} }.

Lemma at_least : direction Qle.
Proof.
  split; [intros; lra|intros; lra|intros; lra|intros; now apply qmult_le|
    intros a b c Hc H; now apply Qmult_lt_0_le_reg_r with c|
    intros x y; destruct (Qlt_le_dec x y); [left|right]; lra].
Defined.

Lemma at_most : direction (fun x y => y <= x).
Proof.
  split; [intros; lra|intros; lra|intros; lra|intros; now apply qmult_le|
    intros a b c Hc H; now apply Qmult_lt_0_le_reg_r with c|
    intros x y; destruct (Qlt_le_dec x y); [right|left]; lra].
Qed.

(* A functional of two probabilities respects equality of rationals and is non-negative. *)
Definition functional (phi : Q -> Q -> Q) :=
  Proper (Qeq ==> Qeq ==> Qeq) phi /\ forall p p', 0 <= p -> 0 <= p' -> 0 <= phi p p'.

Section Measure.
Context {Qry : Type} {Ans : alphabet}.
Notation answers := (every Ans).
Context {le : Q -> Q -> Prop} (ord : direction le).

Notation transcript := (@transcript Qry Ans).
Infix "<<" := le (at level 70).

#[local] Instance le_preorder : PreOrder le.
Proof. split; [intros x; now apply (le_eq _ ord)|exact (le_trans _ ord)]. Qed.

#[local] Instance le_proper : Proper (Qeq ==> Qeq ==> iff) le.
Proof.
  intros x x' Hx y y' Hy; split; intros H; [rewrite (le_eq _ ord x' x), H by now symmetry|rewrite (le_eq _ ord x x'),
    H by assumption];
    apply (le_eq _ ord); [assumption|now symmetry].
Qed.

Lemma le_scale c x y : 0 <= c -> 0 <= x -> 0 <= y -> x << y -> c * x << c * y.
Proof. intros. apply (le_mult _ ord); auto. reflexivity. Qed.

Lemma le_sum {X} (f g : X -> Q) l : (forall x, f x << g x) -> sum f l << sum g l.
Proof. intros H; induction l as [|x l IH]; cbn; [reflexivity|]. now apply (le_plus _ ord). Qed.

(* The functional summed over the views of adversary A, after the history h. *)
Definition total (phi : Q -> Q -> Q) (m m' : machine Qry Ans) (h : transcript) (A : adversary) : Q :=
  sum (fun t => phi (pr m (h ++ t)) (pr m' (h ++ t))) (views A).

Lemma total_Ask phi m m' q k h :
  total phi m m' h (Ask q k) == sum (fun a => total phi m m' (h ++ [(q, a)]) (k a)) answers.
Proof.
  etransitivity; [apply views_Ask|]. apply sum_ext; intros a _. apply sum_ext; intros t _. now rewrite snoc_app.
Qed.

Lemma total_pos phi m m' h A : functional phi -> 0 <= total phi m m' h A.
Proof. intros F. apply sum_pos; intros t _. apply F; apply pr_pos. Qed.

(* For every adversary, the functional summed over its views is on the right side of c. *)
Definition bounded (phi : Q -> Q -> Q) (c : Q) (m m' : machine Qry Ans) := forall A, c << total phi m m' [] A.

(* What a child can come to from h, in n more of the queries qs. *)
Section Worst.
Context (qs : list Qry) (phi : Q -> Q -> Q) (F : functional phi) (m m' : machine Qry Ans).

(* The worse of two values, in the given direction. *)
Definition worse (x y : Q) : Q := if le_total _ ord x y then x else y.

(* The worst of x and the values f(q), for q in a list. *)
Definition worst (f : Qry -> Q) (x : Q) : list Qry -> Q := fold_right (fun q => worse (f q)) x.

(* What the pair of laws can still come to from history h, in the worst case over at most n more questions from the
   list qs. By recursion. *)
Fixpoint reach (n : nat) (h : transcript) : Q :=
  match n with
  | O => phi (pr m h) (pr m' h)
  | S n => worst (fun q => sum (fun a => reach n (h ++ [(q, a)])) answers) (phi (pr m h) (pr m' h)) qs
  end.

Lemma worse_le x y : worse x y << x /\ worse x y << y.
Proof. unfold worse. destruct le_total; split; try assumption; reflexivity. Qed.

Lemma worst_le f x l : worst f x l << x /\ forall q, In q l -> worst f x l << f q.
Proof.
  induction l as [|q l [IH IH']]; cbn; [split; [reflexivity|easy]|]. destruct (worse_le (f q) (worst f x l)) as [H H'].
  split; [now rewrite H'|]. intros q' [<-|I]; [assumption|]. now rewrite H', (IH' q' I).
Qed.

Lemma worst_mono f g x y l : (forall q, f q << g q) -> x << y -> worst f x l << worst g y l.
Proof.
  intros H Hx; induction l as [|q l IH]; cbn; [assumption|]. destruct (worse_le (f q) (worst f x l)) as [W W'].
  unfold worse at 2. destruct le_total; [now rewrite W|now rewrite W'].
Qed.

Lemma worst_is f x l : {q | worst f x l = f q} + {worst f x l = x}.
Proof. induction l as [|q l IH]; [now right|]. cbn. unfold worse. destruct le_total; [left; now exists q|assumption].
  Qed.

Lemma reach_now n h : reach n h << phi (pr m h) (pr m' h).
Proof. destruct n; cbn; [reflexivity|apply worst_le]. Qed.

Lemma reach_ask n h q : In q qs -> reach (S n) h << sum (fun a => reach n (h ++ [(q, a)])) answers.
Proof. exact (proj2 (worst_le (fun q => sum (fun a => reach n (h ++ [(q, a)])) answers) _ qs) q). Qed.

Lemma reach_less n : forall h, reach (S n) h << reach n h.
Proof.
  induction n as [|n IH]; intros h; [apply (reach_now 1)|].
  apply (worst_mono (fun q => sum (fun a => reach (S n) (h ++ [(q, a)])) answers)
                    (fun q => sum (fun a => reach n (h ++ [(q, a)])) answers)); [|reflexivity].
  intros q. apply le_sum; intros a. apply IH.
Qed.

(* An adversary attains it. *)
Lemma reach_is n : forall h, {A | total phi m m' h A == reach n h}.
Proof.
  assert (Now : forall h, total phi m m' h Stop == phi (pr m h) (pr m' h)).
  { intros h. unfold total. cbn. rewrite app_nil_r. ring. }
  induction n as [|n IH]; intros h; [exists Stop; apply Now|]. cbn [reach].
  destruct (worst_is (fun q => sum (fun a => reach n (h ++ [(q,
    a)])) answers) (phi (pr m h) (pr m' h)) qs) as [[q ->]| -> ].
  2: exists Stop; apply Now.
  exists (Ask q (fun a => proj1_sig (IH (h ++ [(q, a)])))).
  rewrite total_Ask. apply sum_ext; intros a _. now destruct (IH (h ++ [(q, a)])).
Qed.

Lemma reach_pos n h : 0 <= reach n h.
Proof. destruct (reach_is n h) as [A <-]. now apply total_pos. Qed.

Lemma reach_start n c : bounded phi c m m' -> c << reach n [].
Proof. intros H. destruct (reach_is n []) as [A <-]. apply H. Qed.

(* The adversary asks at most n questions, all of them from the list qs. *)
Fixpoint within_reach (n : nat) (A : @adversary Qry Ans) : Prop :=
  match A, n with
  | Stop, _ => True
  | Ask q k, S n => In q qs /\ forall a, within_reach n (k a)
  | Ask _ _, O => False
  end.

Lemma reach_worst A : forall n h, within_reach n A -> reach n h << total phi m m' h A.
Proof.
  induction A as [|q k IH]; intros n h H.
  - unfold total. cbn [Machine.views sum]. rewrite app_nil_r, Qplus_0_r. apply reach_now.
  - destruct n as [|n]; [easy|]. destruct H as [Hq H]. rewrite total_Ask, (reach_ask n h q Hq).
    apply le_sum; intros a. now apply IH.
Qed.
End Worst.
End Measure.
