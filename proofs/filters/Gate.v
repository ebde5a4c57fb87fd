(* Admission that reads everything: which launches are tried, refused or passed on may depend on the whole transcript
   of the filter, answers included. A gate stands in front of a filter that keeps a rule; the rule itself is about
   losses. *)
From Odometry Require Export Convex Odometer.
From Coq Require Import Lia.

Section Gate.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Notation transcript := (@transcript Qry Ans).
Context (permit : transcript -> Name -> bool).       (* may read the transcript so far: questions, answers, refusals *)
Notation filter_machine admit := (filter_machine mech admit decode yes no invalid).

(* Whether the gate passes the message on. *)
Definition asks_for (h : transcript) (q : Qry) : bool := match decode q with Launch n => permit h n | _ => true end.

(* The gate's plan: pass the message on and remember the answer, or answer "no". *)
Definition gate_act (h : transcript) (q : Qry) : @plan Ans Qry Ans transcript :=
  if asks_for h q then Call q (fun a => Answer a (h ++ [(q, a)])) else Answer no (h ++ [(q, no)]).

Lemma gate_fair h q : fair_plan (gate_act h q).
Proof. unfold gate_act. destruct asks_for; cbn; auto. Qed.

(* The gate as a person in the middle; its memory is the transcript. *)
Definition gate : @middle Qry Ans Qry Ans := Middle transcript [] gate_act gate_fair.

(* The filter behind the gate. *)
Definition gated (admit : list Name -> Name ->
  bool) (b : bool) : machine Qry Ans := behind gate (filter_machine admit b).

(* What the filter behind the gate sees of a transcript. None: impossible. *)
Fixpoint passed (h t : transcript) : option transcript :=
  match t with
  | [] => Some []
  | (q, a) :: t => if asks_for h q then option_map (cons (q, a)) (passed (h ++ [(q, a)]) t)
      else if eqA no a then passed (h ++ [(q, a)]) t else None
  end.

Lemma gate_from m t : forall h s, expect (behind gate m) (h, s) t (fun _ => 1) ==
  match passed h t with Some t' => expect m s t' (fun _ => 1) | None => 0 end.
Proof.
  induction t as [|[q a] t IH]; intros h s; [reflexivity|]. cbn [expect passed].
  change (step (behind gate m) (h, s) q) with (run m (gate_act h q) s). unfold gate_act.
  destruct (asks_for h q); cbn [run].
  - rewrite sum_flat_map. transitivity (sum (fun o => if eqA (fst (snd o)) a
      then fst o * expect (behind gate m) (h ++ [(q, a)], snd (snd o)) t (fun _ => 1) else 0) (step m s q)).
    + apply sum_ext; intros o _. unfold scale. cbn [run map sum fst snd].
      destruct (eqA (fst (snd o)) a) as [<-|]; [rewrite Qplus_0_r, Qmult_1_r; reflexivity|ring].
    + destruct (passed (h ++ [(q, a)]) t) as [t'|] eqn:P; cbn [option_map expect].
      * apply sum_ext; intros o _. destruct eqA; [|reflexivity]. now rewrite IH, P.
      * rewrite <- (sum_zero (step m s q)). apply sum_ext; intros o _. destruct eqA; [|reflexivity]. rewrite IH, P.
        ring.
  - cbn [sum fst snd]. destruct (eqA no a) as [<-|]; [rewrite IH; ring|ring].
Qed.

(* The probability of a transcript is that of what was passed on, so the product of the children's. *)
Theorem gated_law admit b t : pr (gated admit b) t ==
  match passed [] t with
  | Some t' => match account admit decode yes no invalid [] t' with Some acc => weight mech b acc | None => 0 end
  | None => 0
  end.
Proof.
  unfold pr at 1. etransitivity; [exact (gate_from (filter_machine admit b) t [] [])|].
  destruct (passed [] t) as [t'|]; [|reflexivity]. apply law.
Qed.

(* A filter behind a gate is (E, D)-private for every valid rule. *)
Theorem gated_valid rule E D : valid mech decode yes no invalid rule E D -> approx_dp E D (gated (by_rule rule)).
Proof. intros V b. apply (postprocess); try assumption. now apply V. Qed.

(* The pure filter behind a gate is pure with the same loss. *)
Theorem gated_pure loss E : (forall n, pure_dp (loss n) (mech n)) -> 1 <= E ->
  pure_dp E (gated (by_rule (within loss E))).
Proof. intros H HE b. apply (postprocess_pure); try assumption. now apply pure_filter. Qed.

(* The Renyi filter behind a gate has the same Renyi privacy. *)
Theorem gated_renyi k loss R : (forall n, renyi_dp k (loss n) (mech n)) -> 1 <= R ->
  renyi_dp k R (gated (by_rule (within loss R))).
Proof. intros H HR b. apply (postprocess_renyi); try assumption. now apply renyi_filter. Qed.

(* The pure odometer behind a gate: the ratio is at most the product of what was charged. *)
Theorem gated_odometer loss admit t t' acc b : (forall n, pure_dp (loss n) (mech n)) ->
  passed [] t = Some t' -> account admit decode yes no invalid [] t' = Some acc ->
  pr (gated admit b) t <= spent loss acc * pr (gated admit (negb b)) t.
Proof. intros H P A. rewrite !gated_law, P, A. now apply ratio. Qed.
End Gate.
