(* The definitions that the theorems are about, on finite tables: filters, trees of accounts, continual mechanisms and
   the verified auditor. Extract.v makes a program of them, which prints the cases that the tests of the crates
   replay. *)
From Odometry Require Import ApproximateFilter Stability Tree Continual Auditor.

(* What is answered: a bit, or "admitted", "refused", "there is no such machine or name". *)
Inductive reply := Bit (b : bool) | Yes | No | Invalid.

(* Equality of replies is decidable. *)
Definition same_reply : forall a b : reply, {a = b} + {a <> b}.
Proof. decide equality. apply bool_dec. Defined.

(* All replies. *)
Definition every_reply : list reply := [Bit false; Bit true; Yes; No; Invalid].

Lemma replies_all a : In a every_reply.
Proof. destruct a as [[|]| | |]; cbn; tauto. Qed.

Lemma replies_once : NoDup every_reply.
Proof. repeat constructor; cbn; intuition discriminate. Qed.

(* The alphabet of replies. *)
Canonical replies := Alphabet reply same_reply every_reply replies_all replies_once.

(* What is asked: launch a name, put a question to child j, a question to a machine, a name that does not exist. *)
Inductive request := Start (n : nat) | Put (j : nat) (q : bool) | Question (q : bool) | Unknown.

(* Requests as commands to a filter. *)
Definition decode (q : request) : command nat request :=
  match q with Start n => Launch n | Put j q => To j (Question q) | _ => Other end.

(* One outcome in a table: a positive weight, an answer, the next state. *)
Record outcome := Outcome { parts_of : positive; says : bool; goes : bool }.

(* The outcomes of one step; at least one. *)
Definition row : Type := outcome * list outcome.

(* A table: the row for the data (a bit), the state (a bit) and the question (a bit). *)
Definition table : Type := bool -> bool -> bool -> row.

(* The weight of an outcome, as a rational. *)
Definition heft (o : outcome) : Q := Zpos (parts_of o) # 1.

(* All outcomes of a row. *)
Definition outcomes (r : row) : list outcome := fst r :: snd r.

(* The law of a row: weights, divided by their sum. *)
Definition draws (r : row) : list (Q * (reply * bool)) :=
  map (fun o => (heft o / sum heft (outcomes r), (Bit (says o), goes o))) (outcomes r).

Lemma heft_pos o : 0 < heft o.
Proof. unfold heft, Qlt. cbn. reflexivity. Qed.

Lemma heft_sum r : 0 < sum heft (outcomes r).
Proof.
  assert (P : 0 <= sum heft (snd r)) by (apply sum_pos; intros o _; assert (H := heft_pos o); lra).
  assert (H := heft_pos (fst r)). cbn [outcomes sum]. lra.
Qed.

Lemma draws_pos r o : In o (draws r) -> 0 <= fst o.
Proof.
  intros H. apply in_map_iff in H. destruct H as [x [<- _]]. cbn [fst]. assert (P := heft_pos x).
  apply Qle_shift_div_l; [apply heft_sum|lra].
Qed.

Lemma draws_one r : sum fst (draws r) == 1.
Proof.
  unfold draws. rewrite sum_map. cbn [fst]. assert (P := heft_sum r).
  rewrite (sum_ext _ (fun o => / sum heft (outcomes r) * heft o)) by (intros; unfold Qdiv; ring).
  rewrite sum_scale, Qmult_comm, Qmult_inv_r; lra.
Qed.

(* The machine of a table, on the data b. It has one hidden bit of state. *)
Definition table_machine (t : table) (b : bool) : machine request replies :=
  Machine (Ans := reply) bool false
    (fun s q => draws (t b s match q with Question x => x | _ => false end))
    (fun s q => draws_pos _) (fun s q => draws_one _).

(* The filter over tables with the rule of pure losses. A name is a number. *)
Definition filter_pure (tables : nat -> table) (loss : nat -> Q) (E : Q) : bool -> machine request replies :=
  filter_machine (fun n => table_machine (tables n)) (by_rule (within loss E)) decode Yes No Invalid.

(* The filter over tables with the improved basic rule. *)
Definition filter_improved (tables : nat -> table) (loss delta : nat -> Q) (E D : Q) : bool ->
  machine request replies :=
  filter_machine (fun n => table_machine (tables n)) (by_rule (improved loss delta E D)) decode Yes No Invalid.

(* A tree of accounts, each with its cap. A launch goes through a stable transformation: "times" is its factor, "sees"
   the data that its mechanism sees. *)
Definition tree_of (tables : nat -> table) (sees : nat -> bool -> bool) (loss : nat -> Q) (times : nat -> nat)
  (path : nat -> list nat) (cap : nat -> Q) : bool -> machine request replies :=
  filter_machine (fun n b => table_machine (tables n) (sees n b))
    (tree PeanoNat.Nat.eq_dec path (fun a => within (cost_e loss times) (cap a))) decode Yes No Invalid.

(* A continual mechanism of a table: the data are the questions. *)
Definition stream (t : table) : machine request replies := table_machine t true.

(* Whether the two messages of a pair differ. *)
Definition differs (w : request * request) : bool :=
  match w with (Question x, Question y) => negb (Bool.eqb x y) | _ => false end.

(* Neighbouring streams: at most "most" messages, and at most one pair differs. *)
Definition event_level (most : nat) (h : list (request * request)) : bool :=
  Nat.leb (length h) most && Nat.leb (length (List.filter differs h)) 1.

(* The privacy game of the concurrent composition of streams, with the filter's rule of pure losses. "Halt" is No. *)
Definition game_of (again : bool) (tables : nat -> table) (most : nat) (loss : nat -> Q) (E : Q) :
  bool -> machine (request * request) replies :=
  wrapped (Ans := replies) No again
    (suitable PeanoNat.Nat.eq_dec (fun _ => event_level most) decode (by_rule (within loss E)))
    (ext_con_comp (fun n => stream (tables n)) decode Yes No Invalid).

(* The probability of a transcript, in lowest terms. *)
Definition law_of {Qry} (m : machine Qry replies) (t : list (Qry * reply)) : Q := Qred (pr (Ans := replies) m t).

(* The verified auditor's value: the least delta at e, against n questions from qs, in lowest terms. *)
Definition delta_of (e : Q) (qs : list request) (n : nat) (m m' : machine request replies) : Q :=
  Qred (least (Ans := replies) e qs n m m').
