(* Advanced composition as a filter of interactive children: pure losses, chosen adaptively, pay by their Renyi rate
   at one order k + 2, and the total is converted to (epsilon, delta) once. *)
From Odometry Require Export RenyiFilter ApproximateFilter Conversions.
From Coq Require Import Lia.

Section Advanced.
Context {Qry : Type} {Ans : alphabet}.
(* The filter, the odometer (by Odometer.v), and the better of two rules. *)
Section Rules.
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans) (decode : Qry ->
  command Name Qry) (yes no invalid : Ans).
Context (loss : Name -> Q) (children : forall n, pure_dp (loss n) (mech n)).
Notation valid := (valid mech decode yes no invalid).
Notation rates k := (fun n => rate k (loss n)).

Lemma pure_valid E : 1 <= E -> valid (within loss E) E 0.
Proof. intros HE admit H b. apply pure_adversaries; try assumption.
  now apply (pure_composition mech decode yes no invalid loss). Qed.

Lemma rates_private k n : renyi_dp k (rate k (loss n)) (mech n).
Proof. apply pure_renyi; [|apply children]. exact (loss_ge_1 mech loss children n). Qed.

(* Pure losses pay by their Renyi rate of order k + 2; while the product of the rates is at most R, every filter is
   (e, R / e^(k+1))-private. *)
Theorem advanced_valid k R e : 1 <= R -> 0 < e -> valid (within (rates k) R) e (R * pow (/ e) (S k)).
Proof.
  intros HR He admit H b. apply renyi_approx; [assumption|].
  apply (renyi_composition k mech decode yes no invalid (rates k)); try assumption. apply rates_private.
Qed.

(* Advanced composition as a filter, for adaptively chosen pure losses of interactive mechanisms, at one order fixed
   in advance. *)
Theorem advanced k R e : 1 <= R -> 0 < e ->
  approx_dp e (R * pow (/ e) (S k)) (filter_machine mech (by_rule (within (rates k) R)) decode yes no invalid).
Proof. intros HR He. now apply advanced_valid. Qed.

(* The better of two rules: admit while the product of the losses is at most e, or the product of the rates is at most
   R. *)
Theorem better_of_two k R e : 1 <= R -> 1 <= e ->
  approx_dp e (R * pow (/ e) (S k))
    (filter_machine mech (by_rule (fun l => within loss e l || within (rates k) R l)) decode yes no invalid).
Proof.
  intros HR He. assert (H : valid (fun l => within loss e l || within (rates k) R l) e (0 + R * pow (/ e) (S k))).
  { apply union; [| |now apply pure_valid|apply advanced_valid; lra]; apply within_closed; try assumption.
    - exact (loss_ge_1 mech loss children).
    - intros n. exact (renyi_loss_ge_1 k mech (rates k) (rates_private k) n). }
  intros b A T. specialize (H _ (fun l n Ad => Ad) b A T). now rewrite Qplus_0_l in H.
Qed.
End Rules.
End Advanced.
