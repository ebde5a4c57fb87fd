(* Renyi privacy of every integer order k + 2 above 1, as r = e^((k + 1) * epsilon): the sum of P^(k+2) / P'^(k+1)
   over the views. *)
From Odometry Require Export Measure.
From Coq Require Import Morphisms.

Section Renyi.
Context {Qry : Type} {Ans : alphabet}.
Context (k : nat).

(* x to the power n. *)
Fixpoint pow (x : Q) (n : nat) : Q := match n with O => 1 | S n => x * pow x n end.

(* The functional of Renyi divergence of order k + 2: p^(k+2) / p'^(k+1). So every order is an integer above 1. *)
Definition renyi (p p' : Q) : Q := pow p (S (S k)) * pow (/ p') (S k).
Notation at_most r := (bounded (le := fun x y => y <= x) renyi r).

(* Renyi privacy of order k + 2 in one direction, as r = e^((k+1) * epsilon): for every adversary the functional adds
   up to at most r; and a transcript that is impossible for m' is impossible for m. (Coq's 1/0 is 0, so infinite
   divergence has to be excluded by the second clause.) *)
Definition renyi_close (r : Q) (m m' : machine Qry Ans) :=
  at_most r m m' /\ forall t, pr m' t == 0 -> pr m t == 0.   (* Coq's 1/0 is 0: the infinite is excluded *)
Definition renyi_dp (r : Q) := both (renyi_close r).

#[global] Instance pow_proper : Proper (Qeq ==> eq ==> Qeq) pow.
Proof. intros x y H n _ <-. induction n as [|n IH]; cbn; [reflexivity|]. now apply Qmult_comp. Qed.

Lemma pow_ge_0 x n : 0 <= x -> 0 <= pow x n.
Proof. intros H. induction n; cbn; [lra|]. now apply Qmult_le_0_compat. Qed.

Lemma pow_mult x y n : pow (x * y) n == pow x n * pow y n.
Proof. induction n as [|n IH]; cbn; [|rewrite IH]; ring. Qed.

Lemma renyi_functional : functional renyi.
Proof.
  split; [intros x x' Hx y y' Hy; unfold renyi; now rewrite Hx, Hy|].
  intros p p' Hp Hp'. apply Qmult_le_0_compat; apply pow_ge_0; [assumption|]. now apply Qinv_le_0_compat.
Qed.

Lemma renyi_mult a a' b b' : renyi (a * b) (a' * b') == renyi a a' * renyi b b'.
Proof. unfold renyi. rewrite Qinv_mult_distr, !pow_mult. ring. Qed.

Lemma renyi_1 : renyi 1 1 == 1.
Proof. unfold renyi. assert (H : forall n, pow 1 n == 1) by (induction n as [|n IH]; cbn; [|rewrite IH]; reflexivity). 
  setoid_replace (/ 1) with 1 by reflexivity. now rewrite !H. Qed.

End Renyi.
