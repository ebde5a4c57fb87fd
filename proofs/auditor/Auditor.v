(* The auditor: the recursion over histories computes the least delta at a given e, over all deterministic adversaries
   that ask at most n questions from a list; it is attained by one of them, with a set of views. *)
From Odometry Require Export ApproximateFilter Players.
From Coq Require Import Lia Setoid.

Section Auditor.
Context {Qry : Type} {Ans : alphabet}.
Notation answers := (every Ans).
Notation machine := (machine Qry Ans).

(* The verified auditor: 1 minus what the two laws have in common, in the worst case over at most n questions from the
   list qs. Computed by recursion over histories. *)
Definition least (e : Q) (qs : list Qry) (n : nat) (m m' : machine) : Q :=
  1 - reach at_least qs (common e) m m' n [].

(* The best set of views against a given adversary: those with P(t) above e P'(t). *)
Definition best (e : Q) (m m' : machine) (t : list (Qry * Ans)) : bool := negb (Qle_bool (pr m t) (e * pr m' t)).

Lemma one_adversary e (m m' : machine) A T :
  seen m A T <= e * seen m' A T + (1 - total (common e) m m' [] A).
Proof.
  assert (One := views_total m A []). change (pr m []) with 1 in One. unfold total, Machine.seen. cbn [app] in *.
  rewrite !sum_filter, <- sum_scale, <- One.
  assert (R : forall s c t t', c + t <= s + t' -> t <= t' + (s - c)) by (intros; lra). apply R.
  rewrite <- !sum_plus. apply sum_le; intros t _. destruct (common_le e (pr m t) (pr m' t)), (T t); lra.
Qed.

Lemma one_adversary_best e (m m' : machine) A :
  seen m A (best e m m') == e * seen m' A (best e m m') + (1 - total (common e) m m' [] A).
Proof.
  assert (One := views_total m A []). change (pr m []) with 1 in One. unfold total, Machine.seen. cbn [app] in *.
  rewrite !sum_filter, <- sum_scale, <- One.
  assert (R : forall s c t t', c + t == s + t' -> t == t' + (s - c)) by (intros; lra). apply R.
  rewrite <- !sum_plus. apply sum_ext; intros t _. unfold common, qmin, best. destruct Qle_bool; cbn; ring.
Qed.

(* An adversary that asks at most n questions from the list attains the recursion's value. (Measure.reach_is does not
   say that what it finds asks from the list.) *)
Lemma worst_in f x (l : list Qry) : {q | In q l /\ worst at_least f x l = f q} + {worst at_least f x l = x}.
Proof.
  induction l as [|q l IH]; [now right|]. cbn [worst fold_right]. fold (worst at_least f x l). unfold worse.
  destruct le_total; [left; exists q; split; [now left|reflexivity]|].
  destruct IH as [[q' [I E]]|E]; [left; exists q'; split; [now right|assumption]|now right].
Qed.

Lemma reach_attained e (qs : list Qry) (m m' : machine) n : forall h,
  {A | within_reach qs n A /\ total (common e) m m' h A == reach at_least qs (common e) m m' n h}.
Proof.
  assert (Now : forall h, total (common e) m m' h Stop == common e (pr m h) (pr m' h)).
  { intros h. unfold total. cbn. rewrite app_nil_r. ring. }
  assert (W : forall k, within_reach qs k (@Stop Qry Ans)) by (intros [|k]; exact I).
  induction n as [|n IH]; intros h; [exists Stop; split; [apply W|apply Now]|]. cbn [reach].
  destruct (worst_in (fun q => sum (fun a => reach at_least qs (common e) m m' n (h ++ [(q, a)])) answers)
    (common e (pr m h) (pr m' h)) qs) as [[q [Iq ->]]| -> ]; [|exists Stop; split; [apply W|apply Now]].
  exists (Ask q (fun a => proj1_sig (IH (h ++ [(q, a)])))). split.
  - split; [assumption|]. intros a. apply (proj2_sig (IH (h ++ [(q, a)]))).
  - rewrite total_Ask. apply sum_ext; intros a _. apply (proj2_sig (IH (h ++ [(q, a)]))).
Qed.

(* No adversary that asks at most n questions from qs, with any set of views, exceeds the auditor's value. *)
Theorem least_bounds e qs n m m' : forall A T, within_reach qs n A ->
  seen m A T <= e * seen m' A T + least e qs n m m'.
Proof.
  intros A T H. eapply Qle_trans; [now apply (one_adversary e m m')|]. unfold least.
  assert (R := reach_worst at_least qs (common e) m m' A n [] H). cbn beta in R. lra.
Qed.

(* Some adversary of this kind, with some set of views, attains it. *)
Theorem least_attained e qs n m m' : {A & {T | within_reach qs n A /\
  seen m A T == e * seen m' A T + least e qs n m m'}}.
Proof.
  destruct (reach_attained e qs m m' n []) as [A [W E]]. exists A, (best e m m'). split; [assumption|].
  rewrite (one_adversary_best e m m' A) at 1. unfold least. now rewrite E.
Qed.

(* So the auditor's value is the least delta at e against these adversaries. *)
Theorem auditor e qs n m m' : forall d,
  (forall A T, within_reach qs n A -> seen m A T <= e * seen m' A T + d) <-> least e qs n m m' <= d.
Proof.
  intros d. split.
  - intros H. destruct (least_attained e qs n m m') as [A [T [W E]]]. specialize (H A T W). lra.
  - intros H A T W. assert (B := least_bounds e qs n m m' A T W). lra.
Qed.

(* The player asks at most n questions, all from qs; coins are free. *)
Fixpoint player_within (qs : list Qry) (n : nat) (P : player Qry Ans) : Prop :=
  match P with
  | Halt _ => True
  | Toss _ k => forall i, player_within qs n (k i)
  | Say q k => match n with O => False | S n => In q qs /\ forall a, player_within qs n (k a) end
  end.

Lemma fixed_within qs P : forall n A, player_within qs n P -> fixes P A -> within_reach qs n A.
Proof.
  induction P as [x|w k IH|q k IH]; intros n A W F; cbn in *.
  - destruct A; [now destruct n|easy].
  - destruct F as [i F]. now apply (IH i).
  - destruct n as [|n]; [easy|]. destruct A as [|q' k']; [easy|]. destruct W as [I W], F as [<- F].
    split; [assumption|]. intros a. now apply (IH a).
Qed.

(* Players that toss coins do not exceed the auditor's value either. *)
Theorem least_bounds_players e qs n m m' : forall P, fair P -> player_within qs n P ->
  play m P (start m) <= e * play m' P (start m') + least e qs n m m'.
Proof.
  intros P F W. destruct (derandomised_seen e m m' P F) as [A [T [Fx H]]].
  assert (B := least_bounds e qs n m m' A T (fixed_within qs P n A W Fx)). lra.
Qed.

(* All questions that an adversary may ask. *)
Fixpoint asks (A : @adversary Qry Ans) : list Qry :=
  match A with Stop => [] | Ask q k => q :: flat_map (fun a => asks (k a)) answers end.

(* The largest number of questions of an adversary. *)
Fixpoint deep (A : @adversary Qry Ans) : nat :=
  match A with Stop => O | Ask q k => S (fold_right (fun a n => max (deep (k a)) n) O answers) end.

Lemma within_reach_all A : forall qs n, incl (asks A) qs -> (deep A <= n)%nat -> within_reach qs n A.
Proof.
  induction A as [|q k IH]; intros qs n Hq Hn; [now destruct n|]. destruct n as [|n]; cbn [deep] in Hn; [lia|].
  split; [apply Hq; now left|]. intros a. apply IH.
  - intros x Hx. apply Hq. right. apply in_flat_map. exists a. split; [apply every_all|assumption].
  - assert (H := max_le (fun a => deep (k a)) a answers (every_all Ans a)). cbn in H. lia.
Qed.

(* A pair is (e, d)-private (one direction) iff no audit, with any list of queries and any number of questions,
   exceeds d. *)
Theorem audited e d m m' : approx e d m m' <-> forall qs n, least e qs n m m' <= d.
Proof.
  split.
  - intros H qs n. apply auditor. intros A T _. apply H.
  - intros H A T. apply (proj2 (auditor e (asks A) (deep A) m m' d) (H _ _)).
    apply within_reach_all; [apply incl_refl|lia].
Qed.
End Auditor.
