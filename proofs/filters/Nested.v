(* Filters in filters: a filter is a machine with its budget as loss, so it can be launched like any other mechanism.
   *)
From Odometry Require Export ApproximateFilter.

Section Nested.
Context {Qry : Type} {Ans : alphabet}.
Context (yes no invalid : Ans).

(* What an analyst can launch, with a claim that is true of each. *)
Record catalogue := Catalogue {
  Name : Type;
  mech : Name -> bool -> machine Qry Ans;
  loss : Name -> Q;
  delta : Name -> Q;
  claim : forall n, 1 <= loss n /\ 0 <= delta n < 1 /\ approx_dp (loss n) (delta n) (mech n) }.

Context (decode : forall K, Qry -> command (Name K) Qry).

(* The filter over a catalogue with budget (E, D). *)
Definition budgeted (K : catalogue) (E D : Q) : bool -> machine Qry Ans :=
  filter_machine (mech K) (by_rule (improved (loss K) (delta K) E D)) (decode K) yes no invalid.

(* A budget: E at least 1, D from 0 to below 1. *)
Record budget := Budget { E : Q; D : Q; E_ok : 1 <= E; D_ok : 0 <= D < 1 }.

Lemma budgeted_private K E D : 1 <= E -> 0 <= D -> approx_dp E D (budgeted K E D).
Proof. intros HE HD. apply improved_filter; try assumption; intros n; apply (claim K n). Qed.

(* Everything in K, and filters over K with any budget. *)
Definition nest (K : catalogue) : catalogue.
Proof.
  refine (Catalogue (Name K + budget)
    (fun x => match x with inl n => mech K n | inr B => budgeted K (E B) (D B) end)
    (fun x => match x with inl n => loss K n | inr B => E B end)
    (fun x => match x with inl n => delta K n | inr B => D B end) _).
  intros [n|B]; [apply claim|]. split; [apply E_ok|split; [apply D_ok|]].
  apply budgeted_private; [apply E_ok|apply D_ok].
Defined.

(* Filters over filters over ... over a catalogue, k times. *)
Fixpoint tower (k : nat) (K : catalogue) : catalogue := match k with O => K | S k => nest (tower k K) end.

(* Filters in filters, to any depth: a filter with budget (E, D) that launches mechanisms and filters, each at its own
   loss or budget, is (E, D)-private. *)
Theorem nested k K E D : 1 <= E -> 0 <= D -> approx_dp E D (budgeted (tower k K) E D).
Proof. apply budgeted_private. Qed.
End Nested.
