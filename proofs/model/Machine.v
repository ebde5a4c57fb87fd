(* Interactive machines, adversaries, views, and what it means that a machine is private. *)
From Odometry Require Export Sum.

(* An alphabet: a type of answers with decidable equality, and the list of all of them, each once. So answers are
   finitely many, and no statement can be read with a list that is not all of the type. *)
Record alphabet := Alphabet {
  letter :> Type;
  same : forall a b : letter, {a = b} + {a <> b};
  every : list letter;
  every_all : forall a, In a every;
  every_once : NoDup every }.
Arguments same {_}.

(* The alphabet of two answers, true and false. *)
Lemma bits_all (a : bool) : In a [true; false].
Proof. destruct a; cbn; auto. Qed.

Lemma bits_once : NoDup [true; false].
Proof. repeat constructor; cbn; intuition discriminate. Qed.

(* The alphabet of two answers. *)
Canonical bits := Alphabet bool bool_dec [true; false] bits_all bits_once.

(* A machine: a type of states, the first state, and for each state and query finitely many outcomes, each with its
   probability, its answer and the next state. Probabilities are non-negative and add up to 1. Queries are any type.
   *)
Record machine (Qry Ans : Type) := Machine {
  state : Type;
  start : state;
  step : state -> Qry -> list (Q * (Ans * state));
  step_pos : forall s q o, In o (step s q) -> 0 <= fst o;
  step_one : forall s q, sum fst (step s q) == 1 }.
Arguments Machine {Qry Ans}.  Arguments state {Qry Ans}.  Arguments start {Qry Ans}.  Arguments step {Qry Ans}.
Arguments step_pos {Qry Ans}.  Arguments step_one {Qry Ans}.

(* A transcript: the queries so far, each with its answer. The adversary sees it; states are never seen. *)
Definition transcript {Qry Ans : Type} := list (Qry * Ans).

(* A deterministic adversary: it stops, or asks a query and goes on depending on the answer. A finite tree. *)
Inductive adversary {Qry Ans : Type} := Stop | Ask (q : Qry) (k : Ans -> adversary).

Section Machine.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Notation answers := (every Ans).
Notation machine := (machine Qry Ans).
Notation transcript := (@transcript Qry Ans).
Notation adversary := (@adversary Qry Ans).

(* The expectation of f(state) at the end of transcript t, on the event that the answers are those of t, when the
   queries are those of t and the machine starts in state s. By recursion; hidden states are summed over. *)
Fixpoint expect (m : machine) (s : state m) (t : transcript) (f : state m -> Q) : Q :=
  match t with
  | [] => f s
  | (q, a) :: t =>
      sum (fun o => if eqA (fst (snd o)) a then fst o * expect m (snd (snd o)) t f else 0) (step m s q)
  end.

(* P(t): the probability that the answers are those of t, when the queries are those of t. *)
Definition pr (m : machine) (t : transcript) : Q := expect m (start m) t (fun _ => 1).

(* The transcripts that an adversary can end with. *)
Fixpoint views (A : adversary) : list transcript :=
  match A with
  | Stop => [[]]
  | Ask q k => flat_map (fun a => map (cons (q, a)) (views (k a))) answers
  end.

(* The probability that the adversary's view is in the set T. *)
Definition seen (m : machine) (A : adversary) (T : transcript -> bool) : Q := sum (pr m) (filter T (views A)).

(* Pure privacy in one direction: every transcript's probability for m is at most e times that for m'. (e is
   e^epsilon.) *)
Definition pure (e : Q) (m m' : machine) := forall t, pr m t <= e * pr m' t.

(* (e, d)-privacy in one direction: for every adversary and every set T of views, P(view in T) for m is at most e
   times that for m', plus d. (e is e^epsilon, d is delta.) *)
Definition approx (e d : Q) (m m' : machine) := forall A T, seen m A T <= e * seen m' A T + d.

(* A relation of machines holds in both directions for the pair M true, M false: the machines on two neighbouring data
   sets. *)
Definition both (close : machine -> machine -> Prop) (M : bool -> machine) := forall b, close (M b) (M (negb b)).

(* Pure differential privacy of a pair of machines: epsilon = ln e. *)
Definition pure_dp e := both (pure e).

(* Approximate differential privacy of a pair of machines: (epsilon, delta) = (ln e, d). *)
Definition approx_dp e d := both (approx e d).

(* Laws of expectation. *)
Lemma expect_ext m f g : (forall s, f s == g s) -> forall t s, expect m s t f == expect m s t g.
Proof.
  intros H t; induction t as [|[q a] t IH]; intros s; cbn; [apply H|].
  apply sum_ext; intros o _. destruct eqA; [now rewrite IH|reflexivity].
Qed.

Lemma expect_pos m f : (forall s, 0 <= f s) -> forall t s, 0 <= expect m s t f.
Proof.
  intros H t; induction t as [|[q a] t IH]; intros s; cbn; [apply H|].
  apply sum_pos; intros o Ho. destruct eqA; [|lra].
  apply Qmult_le_0_compat; [now apply (step_pos m s q)|apply IH].
Qed.

Lemma expect_snoc m q a f t : forall s, expect m s (t ++ [(q, a)]) f
  == expect m s t (fun s => sum (fun o => if eqA (fst (snd o)) a then fst o * f (snd (snd o)) else 0) (step m s q)).
Proof.
  induction t as [|[q' a'] t IH]; intros s; cbn [app expect]; [reflexivity|].
  apply sum_ext; intros o _. destruct eqA; [now rewrite IH|reflexivity].
Qed.

Lemma expect_sum {X} m (f : X -> state m -> Q) l t : forall s,
  sum (fun x => expect m s t (f x)) l == expect m s t (fun s => sum (fun x => f x s) l).
Proof.
  induction t as [|[q a] t IH]; intros s; cbn; [reflexivity|].
  rewrite sum_swap. apply sum_ext; intros o _. destruct eqA; [|apply sum_zero].
  now rewrite sum_scale, IH.
Qed.

Lemma indicator (a : Ans) c l : NoDup l ->
  sum (fun b => if eqA a b then c else 0) l == if in_dec eqA a l then c else 0.
Proof.
  induction 1 as [|b l Hb _ IH]; [reflexivity|]. cbn [sum]. rewrite IH.
  destruct (eqA a b) as [e|n], (in_dec eqA a l) as [i|i], (in_dec eqA a (b :: l)) as [i'|i'];
    try ring; exfalso; subst; cbn in *; intuition congruence.
Qed.

Lemma pr_pos m t : 0 <= pr m t.
Proof. apply expect_pos; intros; lra. Qed.

(* Whatever is asked, something is answered. *)
Lemma pr_total m q t : sum (fun a => pr m (t ++ [(q, a)])) answers == pr m t.
Proof.
  unfold pr. erewrite sum_ext by (intros; apply expect_snoc). rewrite expect_sum.
  apply expect_ext; intros s. rewrite sum_swap.
  rewrite (sum_ext _ fst). { apply step_one. }
  intros o _. rewrite indicator by apply every_once. destruct in_dec as [|n]; [ring|]. elim n; apply every_all.
Qed.

Lemma views_Ask f q k : sum f (views (Ask q k)) == sum (fun a => sum (fun t => f ((q, a) :: t)) (views (k a))) answers.
Proof. cbn. rewrite sum_flat_map. apply sum_ext; intros a _. apply sum_map. Qed.

Lemma snoc_app (h : transcript) x t : h ++ x :: t = (h ++ [x]) ++ t.
Proof. now rewrite <- app_assoc. Qed.

Lemma views_total m A : forall h, sum (fun t => pr m (h ++ t)) (views A) == pr m h.
Proof.
  induction A as [|q k IH]; intros h; [cbn; rewrite app_nil_r; ring|].
  rewrite views_Ask, <- (pr_total m q h). apply sum_ext; intros a _.
  rewrite <- (IH a (h ++ [(q, a)])). apply sum_ext; intros t _. now rewrite snoc_app.
Qed.

(* Pure privacy of transcripts is privacy against every adversary and for every set of views. *)
Fixpoint script (t : transcript) : adversary :=
  match t with [] => Stop | (q, a) :: t => Ask q (fun _ => script t) end.

(* Whether the answers of v begin with those of t. *)
Fixpoint answered (t v : transcript) : bool :=
  match t, v with
  | (_, a) :: t, (_, a') :: v => if eqA a a' then answered t v else false
  | _, _ => true
  end.

Lemma script_only (f : transcript -> Q) t : sum f (filter (answered t) (views (script t))) == f t.
Proof.
  revert f; induction t as [|[q a] t IH]; intros f; [cbn; ring|]. rewrite sum_filter. cbn [script]. rewrite views_Ask.
  rewrite (sum_ext _ (fun a' => if eqA a a' then f ((q, a) :: t) else 0)).
  { rewrite indicator by apply every_once. destruct in_dec as [|n]; [reflexivity|]. elim n; apply every_all. }
  intros a' _. cbn. destruct eqA as [<-|_]; [|apply sum_zero].
  rewrite <- (IH (fun v => f ((q, a) :: v))), sum_filter. reflexivity.
Qed.

(* A transcript-wise bound e is the same as (e, 0)-privacy against every adversary and every set of views. *)
Theorem pure_adversaries e m m' : pure e m m' <-> approx e 0 m m'.
Proof.
  split.
  - intros H A T. unfold seen. rewrite Qplus_0_r, <- sum_scale. apply sum_le; intros t _. apply H.
  - intros H t. specialize (H (script t) (answered t)). unfold seen in H. rewrite !script_only in H. lra.
Qed.

End Machine.
