(* Pure privacy: the odometer, the filter. Losses are e^epsilon. *)
From Odometry Require Export Filter.
From Coq Require Import Lia.

(* A rule says which lists of losses are within budget; the filter admits what keeps to it. *)
Definition by_rule {Name} (rule : list Name -> bool) (l : list Name) (n : Name) : bool := rule (l ++ [n]).

Section Pure.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Context (loss : Name -> Q).
Context (mech_private : forall n, pure_dp (loss n) (mech n)).

(* The product of f over a list. *)
Fixpoint product_of (f : Name -> Q) (l : list Name) : Q := match l with [] => 1 | n :: l => f n * product_of f l end.

(* What was charged: the product of the losses of all admitted launches. *)
Definition spent (acc : @ledger Qry Ans Name) : Q := product_of loss (map fst acc).

Lemma prod_app f l n : product_of f (l ++ [n]) == product_of f l * f n.
Proof. induction l as [|m l IH]; cbn; [|rewrite IH]; ring. Qed.

Lemma prod_ge_0 f l : (forall n, 0 <= f n) -> 0 <= product_of f l.
Proof. intros H; induction l as [|m l IH]; cbn; [lra|]. now apply Qmult_le_0_compat. Qed.

Lemma loss_ge_1 n : 1 <= loss n.
Proof. assert (H := mech_private n true []). unfold pr in H. cbn in H. lra. Qed.

Section Odometer.
Context (admit : list Name -> Name -> bool).
Notation filter_machine := (filter_machine mech admit decode yes no invalid).
Notation account := (account admit decode yes no invalid).

Lemma ratio acc b : weight mech b acc <= spent acc * weight mech (negb b) acc.
Proof.
  induction acc as [|[n h] acc IH]; [cbn; lra|]. unfold spent, weight in *. cbn [map product fst snd product_of] in *.
  fold (weight mech b) (weight mech (negb b)) in *.
  set (x := weight mech b acc) in *. set (y := weight mech (negb b) acc) in *.
  assert (X : 0 <= x) by (apply product_pos; intros; apply pr_pos).
  apply Qle_trans with (loss n * pr (mech n (negb b)) h * (product_of loss (map fst acc) * y)); [|lra].
  apply qmult_le; [apply pr_pos|assumption|apply mech_private|assumption].
Qed.

(* The odometer for pure losses: at every moment, whatever was admitted, the ratio of the two probabilities of the
   transcript so far is at most the product of the losses that were charged. *)
Theorem pure_odometer t acc b : account [] t = Some acc ->
  pr (filter_machine b) t <= spent acc * pr (filter_machine (negb b)) t.
Proof. intros E. rewrite !(law mech), E. apply ratio. Qed.

(* A transcript with an impossible account has probability 0. *)
Theorem impossible t b : account [] t = None -> pr (filter_machine b) t == 0.
Proof. intros E. now rewrite law, E. Qed.
End Odometer.

(* The account of any rule keeps what the rule keeps. *)
Lemma kept admit (I : list Name -> Prop) : I [] -> (forall l n, I l -> admit l n = true -> I (l ++ [n])) ->
  forall t acc, account admit decode yes no invalid [] t = Some acc -> I (map fst acc).
Proof.
  intros I0 IS t; induction t as [|[q a] t IH] using rev_ind; intros acc; [now intros [= <-]|].
  rewrite account_app. destruct (Filter.account _ _ _ _ _ [] t) as [acc'|]; [|discriminate]. rewrite account_one.
  specialize (IH acc' eq_refl). unfold log, when. destruct (decode q) as [n|j q'|].
  - destruct admit eqn:Ad; destruct eqA; intros [= <-]; auto. rewrite map_app. cbn. now apply IS.
  - destruct extend eqn:E; [intros [= <-]; now rewrite (extend_names _ _ _ _ E)|]. destruct eqA; intros [= <-]; auto.
  - destruct eqA; intros [= <-]; auto.
Qed.

(* The rule "the product of the losses is at most E", that is, the sum of the epsilons is at most ln E. *)
Definition within (E : Q) (l : list Name) : bool := Qle_bool (product_of loss l) E.

(* Every filter that admits at most what this rule does is pure with loss E. *)
Theorem pure_composition admit E : 1 <= E -> (forall l n, admit l n = true -> within E (l ++ [n]) = true) ->
  pure_dp E (filter_machine mech admit decode yes no invalid).
Proof.
  intros HE H b t. destruct (account admit decode yes no invalid [] t) as [acc|] eqn:A.
  - eapply Qle_trans; [apply (pure_odometer admit t acc b A)|]. apply Qmult_le_compat_r; [|apply pr_pos].
    apply (kept admit (fun l => product_of loss l <= E)) in A; [assumption|cbn; lra|].
    intros l n _ Ad. now apply Qle_bool_iff, H.
  - rewrite impossible by assumption. apply Qmult_le_0_compat; [lra|apply pr_pos].
Qed.

(* The pure filter: adaptively chosen pure losses, interleaved children, loss E (Basic<PureDp>). *)
Theorem pure_filter E : 1 <= E -> pure_dp E (filter_machine mech (by_rule (within E)) decode yes no invalid).
Proof. intros HE. now apply pure_composition. Qed.
End Pure.
