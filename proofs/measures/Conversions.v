(* Conversions: Renyi to (epsilon, delta), pure to Renyi. *)
From Odometry Require Export Renyi.
From Coq Require Import Lia.

Section Conversions.
Context {Qry : Type} {Ans : alphabet}.

(* Renyi to approximate. *)
Lemma pow_ge_1 x n : 1 <= x -> 1 <= pow x n.
Proof. intros H; induction n as [|n IH]; cbn; [lra|]. nra. Qed.

(* Renyi privacy of order k + 2 at r gives (e, r / e^(k+1))-privacy, for every e > 0. *)
Theorem renyi_approx k r e (m m' : machine Qry Ans) : 0 < e ->
  renyi_close k r m m' -> approx e (r * pow (/ e) (S k)) m m'.
Proof.
  intros He [H Z] A T. unfold seen. rewrite !sum_filter, <- sum_scale. specialize (H A). unfold total in H.
  cbn [app] in H.
  assert (Pe : 0 < / e) by now apply Qinv_lt_0_compat.
  apply Qle_trans with (sum (fun t => e * (if T t then pr m' t else 0)) (views A)
    + sum (fun t => pow (/ e) (S k) * renyi k (pr m t) (pr m' t)) (views A)).
  2: { apply Qplus_le_compat; [lra|]. rewrite (sum_scale (pow (/ e) (S k))), Qmult_comm.
       apply Qmult_le_compat_r; [exact H|]. apply pow_ge_0. lra. }
  rewrite <- sum_plus. apply sum_le; intros t _. assert (P := pr_pos m t). assert (P' := pr_pos m' t).
  assert (F : 0 <= pow (/ e) (S k) * renyi k (pr m t) (pr m' t)).
  { apply Qmult_le_0_compat; [apply pow_ge_0; lra|now apply renyi_functional]. }
  specialize (Z t). set (p := pr m t) in *. set (p' := pr m' t) in *.
  destruct (T t); [|lra]. destruct (Qlt_le_dec (e * p') p) as [L|L]; [|lra].
  destruct (Qlt_le_dec 0 p') as [Q0|Q0]; [|assert (p' == 0) by lra; specialize (Z H0); nra].
  assert (R : pow (/ e) (S k) * renyi k p p' == p * pow (p * / (e * p')) (S k)).
  { unfold renyi. cbn [pow]. rewrite Qinv_mult_distr, !pow_mult. ring. }
  assert (B : 1 <= p * / (e * p')).
  { apply Qle_shift_div_l; [nra|lra]. }
  apply (pow_ge_1 _ (S k)) in B. rewrite R. nra.
Qed.

(* Coefficients (s, t) of the chord of x^n over [1/e, e]: the line s x + t that meets x^n at both ends. By recurrence.
   *)
Fixpoint chord (e : Q) (n : nat) : Q * Q :=
  match n with O => (0, 1) | S n => let (s, t) := chord e n in (s * (e + / e) + t, - s) end.

(* The Renyi rate of order k + 2 of pure loss e: (e^(k+2) + e^(-(k+1))) / (e + 1), that of randomised response (see
   rate_closed in examples/Rules.v). Here as the chord's value at 1. *)
Definition rate (k : nat) (e : Q) : Q := fst (chord e (S (S k))) + snd (chord e (S (S k))).

Lemma e_inv e : 1 <= e -> e * / e == 1 /\ 0 < / e /\ 2 <= e + / e.
Proof.
  intros He. assert (I : e * / e == 1) by (apply Qmult_inv_r; lra).
  assert (P : 0 < / e) by (apply Qinv_lt_0_compat; lra).
  repeat split; try assumption. nra.
Qed.

Lemma chord_pos e n : 1 <= e -> 0 <= fst (chord e n) /\ 0 <= fst (chord e n) + snd (chord e n).
Proof.
  intros He. destruct (e_inv e He) as [_ [_ H]]. induction n as [|n [IH IH']]; [cbn; lra|].
  cbn [chord]. destruct (chord e n) as [s t]. cbn [fst snd] in *. split; nra.
Qed.

Lemma chord_above e x n : 1 <= e -> / e <= x <= e -> pow x n <= fst (chord e n) * x + snd (chord e n).
Proof.
  intros He [H1 H2]. destruct (e_inv e He) as [I [P _]]. induction n as [|n IH]; [cbn; lra|].
  destruct (chord_pos e n He) as [S _]. cbn [chord pow]. destruct (chord e n) as [s t]. cbn [fst snd] in *.
  assert (X : x * x <= (e + / e) * x - 1) by nra.
  apply Qle_trans with (x * (s * x + t)); [nra|].
  apply Qle_trans with (s * ((e + / e) * x - 1) + t * x); [|lra]. 
  setoid_replace (x * (s * x + t)) with (s * (x * x) + t * x) by ring. apply Qplus_le_compat; [|lra].
  rewrite !(Qmult_comm s). now apply Qmult_le_compat_r.
Qed.

(* A pair of machines with pure loss e has Renyi privacy of order k + 2 at its rate ([Ste24] Thm 4 for integer
   orders). *)
Theorem pure_renyi k e (M : bool -> machine Qry Ans) : 1 <= e -> pure_dp e M -> renyi_dp k (rate k e) M.
Proof.
  intros He H b. destruct (e_inv e He) as [I [P _]]. assert (H1 := H b). assert (H2 := H (negb b)).
  rewrite negb_involutive in H2.
  unfold pure in H1, H2. split.
  - intros A. unfold total. cbn [app]. unfold rate. set (s := fst _). set (t := snd _).
    apply Qle_trans with (sum (fun v => s * pr (M b) v + t * pr (M (negb b)) v) (views A)).
    + apply sum_le; intros v _. assert (P1 := pr_pos (M b) v). assert (P2 := pr_pos (M (negb b)) v).
      specialize (H1 v). specialize (H2 v). set (p := pr (M b) v) in *. set (p' := pr (M (negb b)) v) in *.
      destruct (Qlt_le_dec 0 p') as [Q0|Q0].
      * assert (C := chord_above e (p * / p') (S (S k)) He). fold s t in C.
        assert (B : / e <= p * / p' <= e).
        { split; [|apply Qle_shift_div_r; [assumption|lra]]. apply Qle_shift_div_l; [assumption|]. nra. }
        specialize (C B). assert (R : renyi k p p' == p' * pow (p * / p') (S (S k))).
        { unfold renyi. rewrite pow_mult. cbn [pow]. assert (p' * / p' == 1) by (apply Qmult_inv_r; lra).
          transitivity (p * (p * pow p k) * (/ p' * pow (/ p') k) * (p' * / p')); [rewrite H0; ring|ring]. }
        rewrite R. assert (E : p' * (s * (p * / p') + t) == s * p + t * p').
        { assert (p' * / p' == 1) by (apply Qmult_inv_r; lra).
          transitivity (s * p * (p' * / p') + t * p'); [ring|rewrite H0; ring]. }
        rewrite <- E. rewrite !(Qmult_comm p'). apply Qmult_le_compat_r; lra.
      * assert (Z' : p' == 0) by lra. assert (Z : p == 0) by nra.
        assert (R : renyi k p p' == 0) by (unfold renyi; cbn [pow]; rewrite Z; ring). rewrite R, Z, Z'. lra.
    + rewrite sum_plus, !sum_scale.
      assert (One : forall m : machine Qry Ans, sum (pr m) (views A) == 1)
        by (intros m; exact (views_total m A [])).
      change (s * sum (pr (M b)) (views A) + t * sum (pr (M (negb b))) (views A) <= s + t).
      rewrite !One. lra.
  - intros t Z. specialize (H1 t). assert (P1 := pr_pos (M b) t). rewrite Z in H1. lra.
Qed.

End Conversions.
