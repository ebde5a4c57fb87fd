(* Finite sums of rationals. *)
From Coq Require Export QArith Lqa List Bool.
Export ListNotations.
Open Scope Q_scope.

Section Sum.
Context {X : Type}.

(* The sum of f over a list. *)
Fixpoint sum (f : X -> Q) (l : list X) : Q :=
  match l with [] => 0 | x :: l => f x + sum f l end.

Lemma sum_ext f g l : (forall x, In x l -> f x == g x) -> sum f l == sum g l.
Proof.
  induction l as [|x l IH]; intros H; cbn; [reflexivity|].
  rewrite (H x), IH; [reflexivity| |left; reflexivity]. intros y Hy; apply H; now right.
Qed.

Lemma sum_le f g l : (forall x, In x l -> f x <= g x) -> sum f l <= sum g l.
Proof.
  induction l as [|x l IH]; intros H; cbn; [lra|].
  apply Qplus_le_compat; [apply H; now left|]. apply IH; intros y Hy; apply H; now right.
Qed.

Lemma sum_zero l : sum (fun _ => 0) l == 0.
Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; reflexivity. Qed.

Lemma sum_pos f l : (forall x, In x l -> 0 <= f x) -> 0 <= sum f l.
Proof. intros H. rewrite <- (sum_zero l). now apply sum_le. Qed.

Lemma sum_scale c f l : sum (fun x => c * f x) l == c * sum f l.
Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; ring. Qed.

Lemma sum_plus f g l : sum (fun x => f x + g x) l == sum f l + sum g l.
Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; ring. Qed.

Lemma sum_app f l l' : sum f (l ++ l') == sum f l + sum f l'.
Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; ring. Qed.

Lemma sum_filter f (T : X -> bool) l : sum f (filter T l) == sum (fun x => if T x then f x else 0) l.
Proof. induction l as [|x l IH]; cbn; [|destruct (T x); cbn; rewrite IH]; ring. Qed.

Lemma sum_one f l x : (forall y, In y l -> 0 <= f y) -> In x l -> f x <= sum f l.
Proof.
  intros H; induction l as [|y l IH]; [easy|]. cbn. intros [->|I].
  - assert (P : 0 <= sum f l) by (apply sum_pos; intros z Hz; apply H; now right). lra.
  - assert (P : 0 <= f y) by (apply H; now left). specialize (IH (fun z Hz => H z (or_intror Hz)) I). lra.
Qed.
End Sum.

Lemma sum_map {X Y} f (g : X -> Y) l : sum f (map g l) == sum (fun x => f (g x)) l.
Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; reflexivity. Qed.

Lemma sum_flat_map {X Y} f (g : X -> list Y) l : sum f (flat_map g l) == sum (fun x => sum f (g x)) l.
Proof. induction l as [|x l IH]; cbn; [|rewrite sum_app, IH]; reflexivity. Qed.

Lemma sum_swap {X Y} (f : X -> Y -> Q) l l' :
  sum (fun x => sum (f x) l') l == sum (fun y => sum (fun x => f x y) l) l'.
Proof.
  induction l as [|x l IH]; cbn; [now rewrite sum_zero|]. now rewrite IH, <- sum_plus.
Qed.

(* The smaller of two rationals. *)
Definition qmin (a b : Q) : Q := if Qle_bool a b then a else b.

Lemma qmin_spec a b : (a <= b /\ qmin a b = a) \/ (b < a /\ qmin a b = b).
Proof.
  unfold qmin. destruct (Qle_bool a b) eqn:E.
  - left; split; [now apply Qle_bool_iff|reflexivity].
  - right; split; [|reflexivity]. apply Qnot_le_lt. intros H. apply Qle_bool_iff in H. congruence.
Qed.

Lemma qmult_le a b c d : 0 <= a -> 0 <= c -> a <= b -> c <= d -> a * c <= b * d.
Proof. intros; nra. Qed.
