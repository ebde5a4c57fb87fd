(* Renyi privacy: the filter. *)
From Odometry Require Export Potential Renyi.
From Coq Require Import Morphisms.

Section Renyi.
Context {Qry : Type} {Ans : alphabet}.
Context (k : nat).
Notation renyi_dp := (@renyi_dp Qry Ans k).  Notation renyi := (renyi k).
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Context (loss : Name -> Q) (children : forall n, renyi_dp (loss n) (mech n)).

Lemma renyi_loss_ge_1 n : 1 <= loss n.
Proof.
  destruct (children n true) as [H _]. specialize (H Stop). unfold total in H. cbn [views sum app] in H.
  change (pr (mech n true) []) with 1 in H. change (pr (mech n (negb true)) []) with 1 in H. rewrite renyi_1 in H. lra.
Qed.

(* Every filter that admits while the product of the Renyi bounds r is at most R has Renyi privacy of order k + 2 at
   R. *)
Theorem renyi_composition admit R : 1 <= R -> (forall l n, admit l n = true -> within loss R (l ++ [n]) = true) ->
  renyi_dp R (filter_machine mech admit decode yes no invalid).
Proof.
  intros HR Hadmit b. split.
  - apply (potential_composition Measure.at_most mech decode yes no invalid admit
      (fun _ => renyi) loss) with (good := fun l => product_of loss l <= R).
    + intros _. apply renyi_functional.
    + intros n. specialize (renyi_loss_ge_1 n). lra.
    + intros n. apply children.
    + apply renyi_functional.
    + lra.
    + unfold renyi. cbn [pow]. ring.
    + cbn. lra.
    + intros l n _ H. now apply Qle_bool_iff, Hadmit.
    + auto.
    + intros acc _. apply Qle_lteq. right. unfold weight. induction acc as [|c acc IH]; [apply renyi_1|].
      cbn [product]. now rewrite renyi_mult, IH.
  - intros t. rewrite !law. destruct (account _ _ _ _ _ [] t) as [acc|]; [|reflexivity]. unfold weight. clear t.
    induction acc as [|[n h] acc IH]; [easy|]. cbn [product fst snd]. intros H. apply Qmult_integral in H.
    destruct H as [H|H].
    + destruct (children n b) as [_ Z]. rewrite (Z h H). ring.
    + rewrite (IH H). ring.
Qed.

(* The Renyi filter of every integer order above 1, for adaptively chosen losses (Basic<RenyiDp>; [HST+23] Thm 1.21).
   *)
Theorem renyi_filter R : 1 <= R -> renyi_dp R (filter_machine mech (by_rule (within loss R)) decode yes no invalid).
Proof. intros HR. now apply renyi_composition. Qed.
End Renyi.
