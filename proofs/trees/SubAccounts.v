(* Sub-accounts for every valid rule: if a rule is valid for responses with deltas (and so for all machines, by
   filters/ReductionApproximate.v), an account that keeps it over its own launches keeps its bound, for every pair of
   data sets that the other accounts' launches do not tell apart. *)
From Odometry Require Export OptimalApproximate Tree Sparse.
From Coq Require Import Lia Setoid.

Section Accounts.
Context {Name : Type} {Account : Type} (eqAcc : forall a b : Account, {a = b} + {a <> b}) (path : Name -> list Account).
Notation charged := (charged eqAcc path).  Notation mine := (mine eqAcc path).  Notation only := (only eqAcc path).

Lemma only_in a f x n : charged a n = true -> only a f x n = f n.
Proof. intros C. unfold Tree.only. now rewrite C. Qed.

Lemma only_out a f x n : charged a n = false -> only a f x n = x.
Proof. intros C. unfold Tree.only. now rewrite C. Qed.

(* Launches that tell nothing may be left out. *)
Lemma left_out a loss delta r b g : forall l, respects (fun l => r (mine a l)) l g ->
  forall x y, exists g', respects r (mine a l) g' /\
  x * succeeds (only a loss 1) (only a delta 0) b g - y * succeeds (only a loss 1) (only a delta 0) (negb b) g
  <= x * succeeds loss delta b g' - y * succeeds loss delta (negb b) g'.
Proof.
  set (loss' := only a loss 1). set (delta' := only a delta 0).
  induction g as [v|n told IHt heard IH]; intros l K x y; [exists (Done v); split; [exact I|cbn; lra]|].
  destruct K as [R K]. rewrite mine_app in R. cbn [succeeds].
  assert (Kt := fun c => IHt c (l ++ [n]) (proj1 (K c))). assert (Kh := fun c => IH c (l ++ [n]) (proj2 (K c))).
  rewrite mine_app in Kt, Kh.
  destruct (charged a n) eqn:C.
  - assert (L : loss' n = loss n) by now apply only_in. assert (D : delta' n = delta n) by now apply only_in.
    rewrite L, D.
    destruct (Kt b (x * delta n) 0) as [g1 [K1 G1]], (Kt (negb b) 0 (y * delta n)) as [g2 [K2 G2]].
    destruct (Kh true (x * ((1 - delta n) * odds (loss n) b true)) (y * ((1 - delta n) * odds (loss n) (negb b)
      true))) as [g3 [K3 G3]].
    destruct (Kh false (x * ((1 - delta n) * odds (loss n) b false)) (y * ((1 - delta n) * odds (loss n) (negb b)
      false))) as [g4 [K4 G4]].
    exists (Try n (fun c => if Bool.eqb c b then g1 else g2) (fun c => if c then g3 else g4)). split.
    + split; [assumption|]. intros c. split; [destruct (Bool.eqb c b); assumption|destruct c; assumption].
    + cbn [succeeds]. rewrite eqb_reflx. replace (Bool.eqb (negb b) b) with false by now destruct b. lra.
  - assert (L : loss' n = 1) by now apply only_out. assert (D : delta' n = 0) by now apply only_out. rewrite L, D.
    rewrite app_nil_r in Kh.
    destruct (Kh true x y) as [g1 [K1 G1]], (Kh false x y) as [g2 [K2 G2]].
    assert (H : forall b c, odds 1 b c == 1#2) by (intros [|] [|]; reflexivity).
    destruct (Qlt_le_dec (x * succeeds loss delta b g1 - y * succeeds loss delta (negb b) g1) (x * succeeds loss
      delta b g2 - y * succeeds loss delta (negb b) g2));
      [exists g2|exists g1]; (split; [assumption|rewrite !H; lra]).
Qed.

(* A rule that is valid for responses with deltas stays valid when launches that are not charged to the account, and
   cost nothing, come in between. *)
Theorem trials_only a loss delta r E D : trials loss delta r E D ->
  trials (only a loss 1) (only a delta 0) (fun l => r (mine a l)) E D.
Proof.
  intros V g K b. destruct (left_out a loss delta r b g [] K 1 E) as [g' [K' G]]. specialize (V g' K' b). lra.
Qed.

Section Machines.
Context {Qry : Type} {Ans : alphabet}.
Context (mech : Name -> bool -> machine Qry Ans) (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Context (rule : Account -> list Name -> bool).

(* A sub-account's bound for every rule that is valid for responses with deltas, for data sets whose difference
   reaches only launches charged to this account. *)
Theorem sub_account_any a loss delta E D : 0 <= E -> trials loss delta (rule a) E D -> rule a [] = true ->
  (forall n, charged a n = true -> 1 <= loss n /\ 0 <= delta n <= 1 /\ approx_dp (loss n) (delta n) (mech n)) ->
  unaffected mech eqAcc path a -> approx_dp E D (filter_machine mech (tree eqAcc path rule) decode yes no invalid).
Proof.
  intros HE V R0 In Out. apply account_private with a; [|assumption].
  apply reduction_delta with (only a loss 1) (only a delta 0); try assumption; [| | |now apply trials_only].
  - intros n. destruct (charged a n) eqn:C; [rewrite only_in by assumption;
      apply (In n C)|rewrite only_out by assumption; lra].
  - intros n. destruct (charged a n) eqn:C; [rewrite only_in by assumption;
      apply (In n C)|rewrite only_out by assumption; lra].
  - intros n. destruct (charged a n) eqn:C; [rewrite !only_in by assumption;
      apply (In n C)|rewrite !only_out by assumption].
    intros b. apply pure_adversaries; try assumption. now apply Out.
Qed.
End Machines.
End Accounts.

(* Thm 5.14 of [HSV25] with the optimal bound, where a name says at creation whether its mechanism may get differing
   pairs: any number that may not, and those that may have their parameters from a fixed list. *)
Section Declared.
Context {Qry : Type} {Ans : alphabet}.
Context (eqQ : forall a b : Qry, {a = b} + {a <> b}).
Context (halt : Ans).
Context {Name : Type} (eqName : forall a b : Name * bool, {a = b} + {a <> b}).
Context (cm : Name -> machine Qry Ans) (f : Name -> list (Qry * Qry) -> bool) (loss delta : Name -> Q).
Context (loss_ok : forall n, 1 <= loss n) (delta_ok : forall n, 0 <= delta n <= 1).
Context (claims : forall n, continual_private halt (f n) (loss n) (delta n) (cm n)).

(* Equality of the only account is decidable. *)
Definition eq_tt : forall a b : unit, {a = b} + {a <> b}. Proof. decide equality. Defined.

(* A name that may get differing pairs is charged to the only account. *)
Definition declares (n : Name * bool) : list unit := if snd n then [tt] else [].

(* The rule: the names that may get differing pairs have their parameters from a fixed list. *)
Definition declared (es : list (Q * Q)) (l : list (Name * bool)) : bool :=
  fixed2 (fun n => loss (fst n)) (fun n => delta (fst n)) es (mine eq_tt declares tt l).

(* Any number of continual mechanisms that may get identical pairs only, and others with parameters from a fixed list,
   cost the optimal bound. A name says at creation which kind it is ([HSV25] Thm 5.14 has the first pair decide: not
   proved here). *)
Theorem declared_exact es E decode yes no invalid : proper es -> 0 <= E ->
  continual_private halt (suitable eqName (may eqQ f) decode (by_rule (declared es))) E (exact E es)
  (ext_con_comp (fun n => cm (fst n)) decode yes no invalid).
Proof.
  intros P HE.
  apply concurrent_trials with (only eq_tt declares tt (fun n => loss (fst n)) 1) (only eq_tt declares tt (fun n =>
    delta (fst n)) 0); try assumption.
  - intros [n [|]]; cbn; [apply loss_ok|lra].
  - intros [n [|]]; cbn; [apply delta_ok|lra].
  - intros [n [|]]; [apply claims|now apply (identical_free eqQ)].
  - apply (trials_only eq_tt declares tt (fun n => loss (fst n)) (fun n => delta (fst n)) (fixed2 (fun n => loss (fst
      n)) (fun n => delta (fst n)) es)).
    now apply trials_fixed.
Qed.
End Declared.
