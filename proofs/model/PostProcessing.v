(* Interactive post-processing ([HSV25] Lemma 2.16; [HST+23] Thm 2.17): a person in the middle. The analyst asks P; P
   may ask M, toss coins and remember; then it answers. For each question its plan is a finite tree: it asks M
   finitely often before it answers, and how often may depend on everything it has seen. *)
From Odometry Require Export Players.
From Coq Require Import Lia Setoid.

Section Postprocess.
Context {Left : Type} {Reply : alphabet} {Qry : Type} {Ans : alphabet}.

(* What a person in the middle does about one question: answer; toss a coin and go on; or put a question to the
   machine and go on. A finite tree: so finitely many questions, but how many may depend on everything seen. *)
Inductive plan (S : Type) := Answer (r : Reply) (s : S) | Coin (w : list Q) (k : nat ->
  plan S) | Call (q : Qry) (k : Ans -> plan S).
Arguments Answer {S}. Arguments Coin {S}. Arguments Call {S}.

(* All coins of a plan have weights that are a distribution. *)
Fixpoint fair_plan {S} (p : plan S) : Prop :=
  match p with Answer _ _ => True | Coin w k => distribution w /\ forall i, fair_plan (k i) | Call _ k => forall a,
    fair_plan (k a) end.

(* A person in the middle: a memory, its first content, and for each memory and question a plan. *)
Record middle := Middle { memory : Type; blank : memory; act : memory -> Left -> plan memory;
  act_fair : forall s l, fair_plan (act s l) }.

(* All probabilities of a list of outcomes, times c. *)
Definition scale {X} (c : Q) (l : list (Q * X)) : list (Q * X) := map (fun o => (c * fst o, snd o)) l.

(* The outcomes when outcome list i is drawn with weight w_i. *)
Fixpoint mixed {X} (w : list Q) (f : nat -> list (Q * X)) : list (Q * X) :=
  match w with [] => [] | p :: w => scale p (f O) ++ mixed w (fun i => f (S i)) end.

(* The outcomes of a plan that is carried out with the machine m in state s: an answer, a new memory, a new state of
   m. *)
Fixpoint run (m : machine Qry Ans) {S} (p : plan S) (s : state m) : list (Q * (Reply * (S * state m))) :=
  match p with
  | Answer r t => [(1, (r, (t, s)))]
  | Coin w k => mixed w (fun i => run m (k i) s)
  | Call q k => flat_map (fun o => scale (fst o) (run m (k (fst (snd o))) (snd (snd o)))) (step m s q)
  end.

Lemma scale_pos {X} c (l : list (Q * X)) : 0 <= c -> (forall o, In o l -> 0 <= fst o) ->
  forall o, In o (scale c l) -> 0 <= fst o.
Proof. intros Hc H o Ho. apply in_map_iff in Ho. destruct Ho as [x [<- Hx]]. cbn. apply Qmult_le_0_compat; auto. Qed.

Lemma mixed_pos {X} w : (forall p, In p w -> 0 <= p) -> forall f : nat -> list (Q * X),
  (forall i o, In o (f i) -> 0 <= fst o) -> forall o, In o (mixed w f) -> 0 <= fst o.
Proof.
  induction w as [|p w IH]; intros Hw f H o; [easy|]. cbn. intros Ho. apply in_app_or in Ho. destruct Ho as [Ho|Ho].
  - eapply scale_pos; [apply Hw; now left|apply (H O)|exact Ho].
  - apply (IH (fun x Hx => Hw x (or_intror Hx)) (fun i => f (S i))); [intros i; apply H|assumption].
Qed.

Lemma run_pos m {S} (p : plan S) : fair_plan p -> forall s o, In o (run m p s) -> 0 <= fst o.
Proof.
  induction p as [r t|w k IH|q k IH]; intros F s o; cbn in *.
  - intros [<-|[]]; cbn; lra.
  - destruct F as [[Hw _] F]. apply mixed_pos; [assumption|]. intros i. now apply IH.
  - intros Ho. apply in_flat_map in Ho. destruct Ho as [x [Hx Ho]].
    refine (scale_pos (fst x) _ (step_pos m s q x Hx) _ o Ho). now apply IH.
Qed.

Lemma sum_scaled {X} c (F : X -> Q) (l : list (Q * X)) : sum (fun o => fst o * F (snd o)) (scale c l)
  == c * sum (fun o => fst o * F (snd o)) l.
Proof. unfold scale. rewrite sum_map, <- sum_scale. apply sum_ext; intros o _. cbn. ring. Qed.

Lemma sum_mixed {X} (F : X -> Q) w : forall f : nat -> list (Q * X),
  sum (fun o => fst o * F (snd o)) (mixed w f) == weigh w (fun i => sum (fun o => fst o * F (snd o)) (f i)).
Proof. induction w as [|p w IH]; intros f; cbn; [reflexivity|]. now rewrite sum_app, sum_scaled, IH. Qed.

Lemma sum_fst {X} (l : list (Q * X)) : sum fst l == sum (fun o => fst o * 1) l.
Proof. apply sum_ext; intros; ring. Qed.

Lemma run_one m {S} (p : plan S) : fair_plan p -> forall s, sum fst (run m p s) == 1.
Proof.
  induction p as [r t|w k IH|q k IH]; intros F s; rewrite sum_fst; cbn in *; [ring| |].
  - destruct F as [[_ One] F]. rewrite (sum_mixed (fun _ => 1)).
    rewrite (weigh_ext _ _ (fun _ => 1)), weigh_const, One; [ring|].
    intros i. rewrite <- sum_fst. now apply IH.
  - rewrite sum_flat_map, <- (step_one m s q). apply sum_ext; intros o _.
    rewrite (sum_scaled _ (fun _ => 1)), <- sum_fst, IH by apply F. ring.
Qed.

(* The machine m behind the person in the middle P: a machine again. *)
Definition behind (P : middle) (m : machine Qry Ans) : machine Left Reply :=
  Machine (memory P * state m) (blank P, start m) (fun s l => run m (act P (fst s) l) (snd s))
    (fun s l => run_pos m _ (act_fair P (fst s) l) (snd s)) (fun s l => run_one m _ (act_fair P (fst s) l) (snd s)).

(* The player that carries out a plan and then goes on as K says. *)
Fixpoint graft {S} (p : plan S) (K : Reply -> S -> player Qry Ans) : player Qry Ans :=
  match p with
  | Answer r s => K r s
  | Coin w k => Toss w (fun i => graft (k i) K)
  | Call q k => Say q (fun a => graft (k a) K)
  end.

(* The player against m that results from a player against "m behind P". *)
Fixpoint through (P : middle) (A : player Left Reply) (s : memory P) : player Qry Ans :=
  match A with
  | Halt x => Halt x
  | Toss w k => Toss w (fun i => through P (k i) s)
  | Say l k => graft (act P s l) (fun r s => through P (k r) s)
  end.

Lemma graft_fair {S} (p : plan S) K : fair_plan p -> (forall r s, fair (K r s)) -> fair (graft p K).
Proof. intros F H; induction p as [r t|w k IH|q k IH]; cbn in *; [apply H|split; [apply F|intros i;
  apply IH, F]|intros a; apply IH, F]. Qed.

Lemma through_fair P A : fair A -> forall s, fair (through P A s).
Proof.
  induction A as [x|w k IH|l k IH]; intros F s; cbn in *; [exact I|split; [apply F|intros i; now apply IH]|].
  apply graft_fair; [apply act_fair|]. intros r t. now apply IH.
Qed.

Lemma graft_play m {S} (p : plan S) K (F : Reply * (S * state m) -> Q) :
  (forall r t s, play m (K r t) s == F (r, (t, s))) -> forall s,
  play m (graft p K) s == sum (fun o => fst o * F (snd o)) (run m p s).
Proof.
  intros H; induction p as [r t|w k IH|q k IH]; intros s; cbn [graft play run].
  - cbn. rewrite H. ring.
  - rewrite sum_mixed. apply weigh_ext. intros i. apply IH.
  - rewrite sum_flat_map. apply sum_ext; intros o _. now rewrite sum_scaled, IH.
Qed.

Lemma play_through P m A : forall s sm, play (behind P m) A (s, sm) == play m (through P A s) sm.
Proof.
  induction A as [x|w k IH|l k IH]; intros s sm; cbn [through play].
  - reflexivity.
  - apply weigh_ext. intros i. apply IH.
  - symmetry. change (step (behind P m) (s, sm) l) with (run m (act P s l) sm).
    rewrite (graft_play m (act P s l) _ (fun o => play (behind P m) (k (fst o)) (snd o))); [reflexivity|].
    intros r t s'. symmetry. apply IH.
Qed.

(* Post-processing: if m, m' are (e, d)-private, so are they behind any person in the middle ([HSV25] Lemma 2.16;
   [HST+23] Thm 2.17). *)
Theorem postprocess P e d m m' : approx e d m m' -> approx e d (behind P m) (behind P m').
Proof.
  intros H. apply players; try assumption. intros A F. cbn [start behind]. rewrite !play_through.
  apply (proj1 (players e d m m') H). now apply through_fair.
Qed.

(* Post-processing for pure privacy. *)
Theorem postprocess_pure P e m m' : pure e m m' -> pure e (behind P m) (behind P m').
Proof.
  intros H. apply (pure_players); try assumption. intros A F. cbn [start behind]. rewrite !play_through.
  apply (proj1 (pure_players e m m') H). now apply through_fair.
Qed.
End Postprocess.
Arguments Answer {Reply Qry Ans S}. Arguments Coin {Reply Qry Ans S}. Arguments Call {Reply Qry Ans S}.
