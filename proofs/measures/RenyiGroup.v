(* Group privacy for Renyi of integer orders ([Mir17], by the weak triangle inequality): twice as far away, at half
   the order. In squares, because roots are irrational: R(order a)^2 is at least r(order 2a) * r(order 2a - 1). *)
From Odometry Require Export RenyiFilter.
From Coq Require Import Lia Setoid.

Lemma squares_le x y : 0 <= y -> x * x <= y * y -> x <= y.
Proof. intros Hy H. apply Qnot_lt_le. intros L. nra. Qed.

(* The inequality of Cauchy and Schwarz for finite sums. *)
Lemma cauchy {X} (f g h : X -> Q) l : (forall x, In x l ->
  0 <= f x /\ 0 <= g x /\ 0 <= h x /\ h x * h x <= f x * g x) ->
  sum h l * sum h l <= sum f l * sum g l.
Proof.
  induction l as [|x l IH]; intros H; [cbn; lra|]. cbn [sum]. assert (I := IH (fun y Hy => H y (or_intror Hy))).
  assert (F : 0 <= sum f l) by (apply sum_pos; intros y Hy; apply H; now right).
  assert (G : 0 <= sum g l) by (apply sum_pos; intros y Hy; apply H; now right).
  assert (K : 0 <= sum h l) by (apply sum_pos; intros y Hy; apply H; now right).
  destruct (H x (or_introl eq_refl)) as [Fx [Gx [Kx S]]].
  set (a := f x) in *. set (b := g x) in *. set (c := h x) in *. set (A := sum f l) in *. set (B := sum g l) in *.
  set (C := sum h l) in *.
  assert (M : 2 * (C * c) <= A * b + a * B).
  { apply squares_le; [assert (0 <= A * b) by (apply Qmult_le_0_compat; lra);
      assert (0 <= a * B) by (apply Qmult_le_0_compat; lra); lra|].
    assert (P : C * C * (c * c) <= A * B * (a * b)) by (apply qmult_le; try assumption; nra).
    set (u := A * b). set (v := a * B). assert (E : A * B * (a * b) == u * v) by (unfold u, v; ring).
    assert (D : 0 <= (u - v) * (u - v)) by (destruct (Qlt_le_dec u v); nra).
    setoid_replace (2 * (C * c) * (2 * (C * c))) with (4 * (C * C * (c * c))) by ring.
    setoid_replace ((u + v) * (u + v)) with (4 * (u * v) + (u - v) * (u - v)) by ring. lra. }
  setoid_replace ((c + C) * (c + C)) with (c * c + 2 * (C * c) + C * C) by ring.
  setoid_replace ((a + A) * (b + B)) with (a * b + (A * b + a * B) + A * B) by ring. lra.
Qed.

Section Group.
Context {Qry : Type} {Ans : alphabet}.
Notation machine := (machine Qry Ans).

Lemma pow_add x n n' : pow x (n + n') == pow x n * pow x n'.
Proof. induction n as [|n IH]; cbn [Nat.add pow]; [ring|]. rewrite IH. ring. Qed.

Lemma pow_1 x n : x == 1 -> pow x n == 1.
Proof. intros H. induction n as [|n IH]; cbn; [reflexivity|]. rewrite IH, H. ring. Qed.

Lemma renyi_square k p q r : 0 <= p -> (q == 0 -> p == 0) ->
  renyi k p r * renyi k p r <= renyi (S (S (2 * k))) p q * renyi (S (2 * k)) q r.
Proof.
  intros Hp Z. unfold renyi. destruct (Qeq_dec q 0) as [E|E].
  - rewrite (Z E). cbn [pow]. lra.
  - apply Qle_lteq; right. set (n := S (S (S (2 * k)))).
    setoid_replace (pow p (S n) * pow (/ q) n * (pow q n * pow (/ r) (S (S (2 * k)))))
      with (pow p (S n) * (pow (/ q) n * pow q n) * pow (/ r) (S (S (2 * k)))) by ring.
    rewrite <- pow_mult, (pow_1 (/ q * q)) by (rewrite Qmult_comm; now apply Qmult_inv_r).
    replace (S n) with (S (S k) + S (S k))%nat by (unfold n; lia).
    replace (S (S (2 * k))) with (S k + S k)%nat by lia. rewrite !pow_add. ring.
Qed.

(* If m, m' have Renyi privacy of order 2k + 4 at r1, and m', m'' of order 2k + 3 at r2, then m, m'' have it of order
   k + 2 at every R with R^2 at least r1 r2. *)
Theorem renyi_two k r1 r2 R (m m' m'' : machine) : renyi_close (S (S (2 * k))) r1 m m' ->
  renyi_close (S (2 * k)) r2 m' m'' -> 0 <= R -> r1 * r2 <= R * R ->
  renyi_close k R m m''.
Proof.
  intros [H1 Z1] [H2 Z2] HR RR. split; [|intros t Z; apply Z1, Z2, Z]. intros A. specialize (H1 A).
  specialize (H2 A). cbn beta in *. unfold total in *.
  assert (Pos : forall k (x y : machine), 0 <= sum (fun t => renyi k (pr x ([] ++ t)) (pr y ([] ++ t))) (views A)).
  { intros k' x y. apply sum_pos; intros t _. apply renyi_functional; apply pr_pos. }
  apply squares_le; [assumption|]. eapply Qle_trans; [|exact RR].
  eapply Qle_trans; [|apply qmult_le; [| |exact H1|exact H2]; apply Pos].
  apply cauchy. intros t _. repeat split; try (apply renyi_functional; apply pr_pos).
  apply renyi_square; [apply pr_pos|]. apply Z1.
Qed.

(* Group privacy for Renyi in 2^i steps: r i k bounds order k + 2 at distance 2^i, if r (i+1) at order a is at least
   the geometric mean of r i at orders 2a and 2a - 1. *)
Theorem renyi_group (r : nat -> nat -> Q) : (forall i k, 0 <= r i k) ->
  (forall i k, r i (S (S (2 * k))) * r i (S (2 * k)) <= r (S i) k * r (S i) k) ->
  forall (m : nat -> machine), (forall j k, renyi_close k (r O k) (m j) (m (S j))) ->
    forall i j k, renyi_close k (r i k) (m j) (m (2 ^ i + j)%nat).
Proof.
  intros P S m H i; induction i as [|i IH]; intros j k; [apply H|].
  apply (renyi_two k (r i (Datatypes.S (Datatypes.S (2 * k)))) (r i (Datatypes.S (2 * k))) _ (m j) (m (2 ^ i +
    j)%nat)); [apply IH| |apply P|apply S].
  replace (2 ^ Datatypes.S i + j)%nat with (2 ^ i + (2 ^ i + j))%nat by (cbn; lia). apply IH.
Qed.
End Group.
