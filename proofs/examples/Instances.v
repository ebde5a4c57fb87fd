(* Examples: an instance of each theorem with hypotheses that the other examples do not use, directly or through another
   theorem. *)
From Odometry Require Export Streams.
From Coq Require Import Lia.

(* An admission that says yes to everything. *)
Definition any {Name} (_ : list Name) (_ : Name) : bool := true.

(* The pure odometer over randomised response: the ratio is at most what was charged. *)
Theorem rrs_odometer t acc b : account any udecode (Some true) None None [] t = Some acc ->
  pr (rrs any udecode (Some true) None None b) t
  <= spent (fun _ => 3) acc * pr (rrs any udecode (Some true) None None (negb b)) t.
Proof. apply (pure_odometer (fun _ : unit => rr) udecode (Some true) None None (fun _ => 3) (fun _ => rr_pure) any).
  Qed.

(* After two launches 9 was charged, and the ratio is 9. *)
Example rrs_odometer_attains : let t := [(0, Some true); (0, Some true); (1, Some true); (2, Some true)]%nat in
  map (fun b => Qred (pr (rrs any udecode (Some true) None None b) t)) [true; false] = [9#16; 1#16].
Proof. vm_compute. reflexivity. Qed.

(* The basic rule: sums of deltas. *)
Theorem flt_basic : approx_dp 3 (1#5) (filter_machine mech (by_rule (basic loss delta 3 (1#5))) decode (Some true)
  None None).
Proof.
  apply (basic_valid mech decode (Some true) None None loss delta loss_ok delta_ok mech_private); [lra|lra|auto].
Qed.

(* Post-processing of a pure machine. *)
Theorem eager_pure coin C : pure 9 (behind (both_of coin C) (flt 9 0 true)) (behind (both_of coin C) (flt 9 0 false)).
Proof.
  apply postprocess_pure, pure_adversaries. apply (flt_private 9 0 ltac:(lra) ltac:(lra) true).
Qed.

(* A gate in front of the pure filter, the Renyi filter and the pure odometer. *)
Theorem gated_rrs_pure :
  pure_dp 9 (gated (fun _ : unit => rr) udecode (Some true) None None saw_true (by_rule (within (fun _ => 3) 9))).
Proof. apply gated_pure; [|lra]. intros _. apply rr_pure. Qed.

(* The Renyi filter of order 3 behind this gate. *)
Theorem gated_rrs_renyi : renyi_dp 1 50
  (gated (fun _ : unit => rr) udecode (Some true) None None saw_true (by_rule (within (fun _ => rate 1 3) 50))).
Proof. apply gated_renyi; [|lra]. intros _. apply pure_renyi; [lra|apply rr_pure]. Qed.

(* The odometer behind this gate: a refused message, a launch, a question. *)
Theorem gated_rrs_odometer b : let t := [(0, Some true); (0, None); (1, Some true)]%nat in
  pr (gated (fun _ : unit => rr) udecode (Some true) None None saw_true any b) t
  <= 3 * pr (gated (fun _ : unit => rr) udecode (Some true) None None saw_true any (negb b)) t.
Proof.
  assert (H := gated_odometer (fun _ : unit => rr) udecode (Some true) None None saw_true (fun _ => 3) any
    [(0, Some true); (0, None); (1, Some true)]%nat _ _ b (fun _ => rr_pure) eq_refl eq_refl).
  cbv zeta. eapply Qle_trans; [exact H|]. apply Qmult_le_compat_r; [vm_compute; discriminate|apply pr_pos].
Qed.

(* At E at least the product of the losses, optimal composition is the improved basic rule. *)
Example exact_at_the_product : exact 9 three_budget == 1 - whole three_budget.
Proof. apply exact_improved; [apply three_proper|vm_compute; discriminate]. Qed.

(* Four equal parameters by the closed form. *)
Example exact_of_equals : Qred (exact 4 (repeat (2, 1#10) 4)) = Qred (1 - pow (9#10) 4 * (1 - (4#27))).
Proof. vm_compute. reflexivity. Qed.

(* A rule for two fixed parameters is valid for responses with deltas exactly from the optimal delta on. *)
Theorem two_trials D : trials loss delta (fixed2 loss delta (map (key loss delta) [false; true])) 3 D <->
  exact 3 (map (key loss delta) [false; true]) <= D.
Proof. apply trials_optimal; [apply loss_ok|apply delta_ok'|lra]. Qed.

(* The truncated view of an odometer over fixed parameters. *)
Theorem flt_exact_truncated A T b : let cut := truncated decode (fixed2 loss delta three_budget) any [] A in
  seen (filter_machine mech any decode (Some true) None None b) cut T
  <= 3 * seen (filter_machine mech any decode (Some true) None None (negb b)) cut T + exact 3 three_budget.
Proof.
  apply (optimal_truncated mech decode (Some true) None None loss delta three_budget 3 loss_ok delta_ok' mech_private
    three_proper). lra.
Qed.

(* A rule that is valid for pure responses, for continual mechanisms. *)
Theorem echoes_responses : continual_private None
  (suitable eqU (fun _ => event_level) cdecode (by_rule pair_rule)) 3 (excess 3 [3; 3]) echoes.
Proof.
  apply (concurrent_responses (fun _ : unit => 3) pair_rule) with (bad := None).
  - intros _. apply echo_pure.
  - apply responses_fixed. cbn. intuition; subst; lra.
Qed.

(* A rule that is valid for randomised responses with deltas holds for the filter over rr and the leak. *)
Theorem flt_transferred : valid mech decode (Some true) None None (fixed2 loss delta three_budget) 3 (exact 3
  three_budget).
Proof.
  apply (transfer loss delta loss_ok delta_ok'); [lra| |apply mech_private].
  apply tellers_decide; [lra|]. apply trials_fixed; [apply loss_ok|apply delta_ok'|apply three_proper|lra].
Qed.

(* A pure mechanism behind a 2-stable transformation: the doubled number, with a response to its being 0. *)
Definition zero_or_not (x : nat) : mach := rr (Nat.eqb x 0).

Lemma zero_or_not_pure : private next_to (pure 3) zero_or_not.
Proof.
  intros x y N b. unfold zero_or_not, pair. assert (H := rr_pure b). destruct (Nat.eqb x 0), (Nat.eqb y 0), b; cbn;
    first [exact H|exact (rr_pure true)|exact (rr_pure false)|intros t; assert (P := pr_pos (rr true) t);
    assert (P' := pr_pos (rr false) t); lra].
Qed.

(* It costs 9. *)
Theorem doubled_pure : private next_to (pure (pow 3 2)) (fun x => zero_or_not (via true x)).
Proof. apply (stable_pure next_to next_to 2 (via true) 3 zero_or_not);
  [lra|apply zero_or_not_pure|apply (via_stable true)]. Qed.

(* A verification function that allows fewer sequences: no pair differs among the first ones. *)
Theorem echo_fewer : continual_private None (fun h => event_level h && Nat.leb (length h) 7) 3 0 echo.
Proof. apply (fewer None event_level); [|apply echo_private]. intros h H. now apply andb_prop in H. Qed.

(* Every player sees randomised response as a response followed by a machine that does not see the secret. *)
Theorem rr_play : {N : bool -> mach | forall b P, play (rr b) P (start (rr b)) ==
  odds 3 b true * play (N true) P (start (N true)) + odds 3 b false * play (N false) P (start (N false))}.
Proof. apply response_play, rr_pure. Qed.

(* No audit of the leak, with any list of queries and any number of questions, exceeds 1/10. *)
Theorem leak_audited b qs n : least 1 qs n (leak b) (leak (negb b)) <= 1#10.
Proof. apply audited, leak_private. Qed.

(* A sub-account with deltas, in which only one team's data differ. *)
Theorem teams_sub_approx : approx_dp 3 0 (filter_machine (tmech false)
  (tree eqO tpath (fun a => match a with Some _ => improved (fun _ => 3) (fun _ => 0) 3 0 | None => any [] end))
  tdecode (Some true) None None).
Proof.
  apply (sub_account (tmech false) tdecode (Some true) None None eqO tpath _ (Some true) (fun _ => 3) (fun _ => 0));
    try lra; auto.
  - intros [[|] n] C; [|cbn in C; discriminate]. split; [lra|]. split; [lra|]. apply rr_private.
  - intros [[|] n] C b t; cbn in C; [discriminate|]. cbn. lra.
Qed.

(* The bound 3/8 of two responses, from the pair of product distributions. *)
Theorem rrs_whatever : valid (fun _ : unit => rr) udecode (Some true) None None pair_rule 3 (3#8).
Proof.
  assert (O : forall e, In e [3; 3] -> 1 <= e) by (cbn; intuition; subst; lra).
  apply (whatever_holds (fun _ : unit => 3) [3; 3] O); [intros _; apply rr_pure|].
  apply product_pair; [exact O|vm_compute; discriminate].
Qed.

(* A chain of data sets on which the response's bit alternates, and bounds for 2^i changes. *)
Definition alternating (j : nat) : mach := rr (Nat.even j).

(* The bound of order k + 2 at distance 2^i: 3^((k + 2)^2 * 4^i). *)
Definition squared (i k : nat) : Q := pow 3 ((k + 2) * (k + 2) * 4 ^ i).

Lemma pow_below_1 x n : 0 <= x <= 1 -> 0 <= pow x n <= 1.
Proof.
  intros H. induction n as [|n [I J]]; cbn [pow]; [lra|]. split; [apply Qmult_le_0_compat; lra|].
  assert (x * pow x n <= 1 * 1) by (apply qmult_le; lra). lra.
Qed.

Lemma rate_below k e : 1 <= e -> rate k e <= pow e (S k).
Proof.
  intros He. destruct (e_inv e He) as [I [P _]]. apply times_le with (e + 1); [lra|]. rewrite rate_closed by assumption.
  assert (L : / e <= 1) by nra. destruct (pow_below_1 (/ e) (S k)) as [_ B]; [lra|].
  assert (G := pow_up e 0 (S k) He ltac:(lia)). change (pow e 0) with 1 in G.
  setoid_replace (pow e (S k) * (e + 1)) with (pow e (S (S k)) + pow e (S k)) by (cbn [pow]; ring). lra.
Qed.

(* Group privacy for Renyi along this chain. *)
Theorem alternating_group i j k : renyi_close k (squared i k) (alternating j) (alternating (2 ^ i + j)%nat).
Proof.
  apply (renyi_group squared).
  - intros i' k'. apply pow_ge_0. lra.
  - intros i' k'. unfold squared. rewrite <- !pow_add. apply pow_up; [lra|]. cbn [Nat.pow]. nia.
  - intros j' k'. unfold alternating. rewrite PeanoNat.Nat.even_succ, <- PeanoNat.Nat.negb_even.
    destruct (pure_renyi k' 3 rr ltac:(lra) rr_pure (Nat.even j')) as [H Z]. split; [|exact Z].
    intros A. cbn beta. eapply Qle_trans; [apply H|]. eapply Qle_trans; [apply rate_below; lra|].
    apply pow_up; [lra|]. cbn [Nat.pow]. nia.
Qed.
