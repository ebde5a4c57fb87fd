(* (epsilon, delta): what two laws have in common. *)
From Odometry Require Export Measure.
From Coq Require Import Lia Morphisms.

Section Common.
Context {Qry : Type} {Ans : alphabet}.

(* What two probabilities have in common, the second one scaled by e: min(p, e p'). *)
Definition common (e p p' : Q) : Q := qmin p (e * p').

Lemma common_le e p p' : common e p p' <= p /\ common e p p' <= e * p'.
Proof. unfold common. destruct (qmin_spec p (e * p')) as [[H ->]|[H ->]]; split; lra. Qed.

Lemma common_functional e : 0 <= e -> functional (common e).
Proof.
  intros He. split.
  - intros x x' Hx y y' Hy. unfold common.
    destruct (qmin_spec x (e * y)) as [[? ->]|[? ->]], (qmin_spec x' (e * y')) as [[? ->]|[? ->]];
      rewrite ?Hx, ?Hy in *; lra.
  - intros p p' Hp Hp'. unfold common. destruct (qmin_spec p (e * p')) as [[_ ->]|[_ ->]]; [assumption|].
    now apply Qmult_le_0_compat.
Qed.

(* (e, d)-privacy says exactly this: for every adversary, what the two laws of views have in common (the second scaled
   by e) adds up to at least 1 - d. *)
Lemma approx_common e d (m m' : machine Qry Ans) : approx e d m m' <-> bounded (le := Qle) (common e) (1 - d) m m'.
Proof.
  assert (One : forall A, sum (pr m) (views A) == 1).
  { intros A. exact (views_total m A []). }
  unfold bounded, total. cbn [app]. split.
  - intros H A. set (T t := negb (Qle_bool (pr m t) (e * pr m' t))).
    specialize (H A T). unfold seen in H. rewrite !sum_filter, <- sum_scale in H. rewrite <- (One A).
    assert (R : forall s c t t', t <= t' + d -> c + t == s + t' -> s - d <= c) by (intros; lra). apply (R _ _ _ _ H).
    rewrite <- !sum_plus. apply sum_ext; intros t _. unfold common, qmin, T. destruct Qle_bool; cbn; ring.
  - intros H A T. specialize (H A). rewrite <- (One A) in H. unfold seen. rewrite !sum_filter, <- sum_scale.
    assert (R : forall s c t t', s - d <= c -> c + t <= s + t' -> t <= t' + d) by (intros; lra). apply (R _ _ _ _ H).
    rewrite <- !sum_plus. apply sum_le; intros t _. destruct (common_le e (pr m t) (pr m' t)), (T t); lra.
Qed.
End Common.
