(* Examples: Renyi, advanced and optimal composition, the reduction to responses, a gate, filters in filters. *)
From Odometry Require Export Stability Convex OptimalApproximate Gate Follower Responses.
From Coq Require Import Lia.

(* The other theorems' hypotheses. Renyi, as a filter and behind a person in the middle; advanced composition; the
   better of two rules; the odometer's truncated view; filters in filters. *)
(* Equality of numbers, and of the only name, is decidable. *)
Definition eqNat : forall a b : nat, {a = b} + {a <> b} := PeanoNat.Nat.eq_dec.

(* Equality of the only name is decidable. *)
Definition eqU : forall a b : unit, {a = b} + {a <> b}. Proof. decide equality. Defined.

(* Filters over randomised response. *)
Definition rrs := filter_machine (fun _ : unit => rr).

(* Messages: 0 launches; 1 + j asks child j. *)
Definition udecode (q : nat) : command unit nat := match q with O => Launch tt | S j => To j 0%nat end.

(* The Renyi filter of order 3 with room for two responses. *)
Theorem rrs_renyi : renyi_dp 1 (rate 1 3 * rate 1 3)
  (rrs (by_rule (within (fun _ => rate 1 3) (rate 1 3 * rate 1 3))) udecode (Some true) None None).
Proof.
  apply renyi_filter; [|vm_compute; discriminate].
  intros _. apply (pure_renyi); [lra|apply rr_pure].
Qed.

(* It keeps its Renyi privacy behind a person in the middle. *)
Theorem rrs_renyi_behind coin C b :
  renyi_close 1 (rate 1 3 * rate 1 3)
  (behind (both_of coin C) (rrs (by_rule (within (fun _ => rate 1 3) (rate 1 3 * rate 1 3))) udecode (Some true)
  None None b)) (behind (both_of coin C) (rrs (by_rule (within (fun _ => rate 1 3) (rate 1 3 * rate 1 3))) udecode
  (Some true) None None (negb b))).
Proof.
  apply postprocess_renyi, rrs_renyi.
Qed.

(* The better of two rules, at e = 9. *)
Theorem rrs_better : approx_dp 9 (30 * pow (/ 9) 2)
  (rrs (by_rule (fun l => within (fun _ => 3) 9 l || within (fun _ => rate 1 3) 30 l)) udecode (Some true) None
  None).
Proof. apply (better_of_two (fun _ : unit => rr) udecode (Some true) None None (fun _ => 3)); try lra. intros _.
  apply rr_pure. Qed.

(* The truncated view of an odometer that admits everything. *)
Theorem flt_truncated E D : 1 <= E -> 0 <= D -> forall A T b,
  let all_in := fun (_ : list bool) (_ : bool) => true in let cut
    := truncated decode (improved loss delta E D) all_in [] A in
  seen (filter_machine mech all_in decode (Some true) None None b) cut T
    <= E * seen (filter_machine mech all_in decode (Some true) None None (negb b)) cut T + D.
Proof.
  intros HE HD A T b. apply truncated_view.
  - apply improved_closed; [apply loss_ok|apply delta_ok|assumption|assumption].
  - apply improved_valid; [apply loss_ok|apply delta_ok|apply mech_private|assumption|assumption].
Qed.

(* A catalogue of randomised response and the leak. *)
Definition shop : catalogue :=
  Catalogue bool mech loss delta (fun n => conj (loss_ok n) (conj (delta_ok n) (mech_private n))).

(* Filters in filters over this catalogue, to any depth. *)
Theorem shop_nested (dec : forall K : catalogue, nat -> command (Name K) nat) k :
  approx_dp 9 (1#10) (budgeted (Some true) None None dec (tower (Some true) None None dec k shop) 9 (1#10)).
Proof. apply nested; lra. Qed.

(* The rate is that of randomised response, which attains it. *)
Theorem rate_closed k e : 1 <= e -> rate k e * (e + 1) == pow e (S (S k)) + pow (/ e) (S k).
Proof.
  intros He. destruct (e_inv e He) as [I _].
  assert (H : forall n, fst (chord e n) * e + snd (chord e n) == pow e n /\
    fst (chord e n) * / e + snd (chord e n) == pow (/ e) n).
  { induction n as [|n [A B]]; [cbn; split; ring|]. cbn [chord pow]. destruct (chord e n) as [s t].
    cbn [fst snd] in *. rewrite <- A, <- B. split.
    - transitivity (s * e * e + s * (e * / e) + t * e - s); [ring|rewrite I; ring].
    - transitivity (s * / e * / e + s * (e * / e) + t * / e - s); [ring|rewrite I; ring]. }
  destruct (H (S (S k))) as [A B]. unfold rate. rewrite <- A.
  assert (C : e * pow (/ e) (S (S k)) == pow (/ e) (S k)) by (cbn [pow]; rewrite Qmult_assoc, I; ring).
  rewrite <- C, <- B. set (s := fst _). set (t := snd _).
  transitivity (s * e + t + (s * 1 + e * t)); [ring|rewrite <- I; ring].
Qed.

(* Randomised response attains the rate (order 3, computed). *)
Example rate_attained : Qred (total (renyi 1) (rr true) (rr false) [] (Ask 0%nat (fun _ => Stop))) = Qred (rate 1 3).
Proof. vm_compute. reflexivity. Qed.

(* Randomised response and what follows it: the parts of rr are the machines that tell the response. *)
Example rr_parts : map (fun b => map (fun a => Qred (part 3 rr b [(0%nat, a); (0%nat, None)])) all) [true;
  false] = [[1; 0; 0]; [0; 1; 0]].
Proof. vm_compute. reflexivity. Qed.

(* Randomised response is a response followed by a machine that does not see the secret. *)
Theorem rr_is_a_response : {N : bool -> mach | forall He b t, pr (rr b) t == pr (responded 3 He N b) t}.
Proof. apply (response), rr_pure. Qed.

Lemma three_ok (n : unit) : 1 <= 3. Proof. lra. Qed.

(* The same with a person in the middle. *)
Theorem rr_behind : {P : middle | forall b t,
  pr (rr b) t == pr (behind P (responder (fun _ : unit => 3) three_ok tt b)) t}.
Proof. apply (post_processing None), rr_pure. Qed.

(* Optimal composition: two responses at 3, four at 2. The product of the losses would have to be within E; as one
   response of the product, they would cost 12/17. *)
Example two_excess : Qred (excess 3 [3; 3]) = (3#8). Proof. vm_compute. reflexivity. Qed.

(* Four losses of 2 at E = 4 cost 4/27; one response of loss 16 costs 12/17. *)
Example four_excess : map Qred [excess 4 [2; 2; 2; 2]; excess 4 [16]] = [4#27; 12#17]. Proof. vm_compute.
  reflexivity. Qed.

(* Ten losses of 11/10 at E = 3/2 cost at most 14/1000; their product is above 3/2. *)
Example ten_excess : Qle_bool (excess (3#2) (repeat (11#10) 10)) (14#1000) && negb (within (fun _ : unit => 11#10)
  (3#2) (repeat tt 10)) = true.
Proof. vm_compute. reflexivity. Qed.

(* Twelve at 11/10: the product is above 3; at 2 they cost less than 1/300. *)
Example twelve_excess : excess 2 (repeat (11#10) 12)
  <= 1#300 /\ Qle_bool 3 (product_of (fun e => e) (repeat (11#10) 12)) = true.
Proof. split; [rewrite excess_equal; vm_compute; discriminate|vm_compute; reflexivity]. Qed.

(* What optimal composition says of the losses so far is not a filter: admitting while it is within (2, 2/5) lets
   through 41/90. After one response at 2: if "true", one at 4; else one at 2 and one at 3. *)
Definition gloss (n : nat) : Q := match n with 0%nat => 2 | 1%nat => 4 | _ => 3 end.

(* The rule: optimal composition of the losses so far is within (2, 2/5). *)
Definition greedy (l : list nat) : bool := Qle_bool (excess 2 (map gloss l)) (2#5).

(* The experiment that breaks it. *)
Definition shrewd : experiment nat :=
  Respond 0%nat (fun x => if x then Respond 1%nat (fun y => End y)
    else Respond 0%nat (fun y => Respond 2%nat (fun z => End (y && z)))).

(* It gains 41/90, which is above 2/5. *)
Example shrewd_wins : Qred (wins gloss true shrewd - 2 * wins gloss false shrewd) = 41#90. Proof. vm_compute.
  reflexivity. Qed.

(* So optimal composition of the losses so far is not a valid rule for adaptively chosen losses. *)
Theorem greedy_invalid : ~ responses gloss greedy 2 (2#5).
Proof.
  intros V. assert (K : keeps greedy [] shrewd).
  { split; [vm_compute; reflexivity|]. intros [|]; (split; [vm_compute; reflexivity|]); intros x; [exact I|].
    split; [vm_compute; reflexivity|]. intros y; exact I. }
  specialize (V shrewd K true). assert (E : wins gloss true shrewd
    == 2 * wins gloss (negb true) shrewd + (41#90)) by (vm_compute; reflexivity). lra.
Qed.

Lemma gloss_ok n : 1 <= gloss n. Proof. destruct n as [|[|n]]; cbn; lra. Qed.

(* The same for the filter of response machines. *)
Theorem greedy_invalid_machines : ~ valid (responder gloss gloss_ok) launch_or_ask true false false greedy 2 (2#5).
Proof. intros V. apply greedy_invalid. now apply responders_decide in V. Qed.

(* Two losses of 3, fixed in advance. *)
Definition pair_rule : list unit -> bool := fixed (fun _ => 3) [3; 3].

(* Two responses at 3 cost 3/8 at E = 3. *)
Theorem rrs_optimal : approx_dp 3 (3#8) (rrs (by_rule pair_rule) udecode (Some true) None None).
Proof.
  assert (H := optimal (fun _ : unit => 3) [3; 3] ltac:(cbn; intuition; subst;
    lra) (fun _ => rr) udecode (Some true) None None 3 (fun _ => rr_pure)).
  intros b. apply (approx_weaken 3 (excess 3 [3; 3]) 3 (3#8)); [lra|vm_compute; discriminate|].
  apply (H (by_rule pair_rule)). auto.
Qed.

(* It is attained, interleaved: and a third launch is refused. *)
Definition is_true (a : ans) : bool := match a with Some true => true | _ => false end.

(* The player launches twice, is refused a third time, asks both in the other order, and accepts if both say true. *)
Definition both_true : player nat bit_or_none :=
  Say 0%nat (fun _ => Say 0%nat (fun _ => Say 0%nat (fun r => Say 2%nat (fun a => Say 1%nat (fun a' => Halt (negb
    (is_true r) && is_true a && is_true a')))))).

(* It attains 3/8. *)
Example rrs_attained : let M := rrs (by_rule pair_rule) udecode (Some true) None None in
  Qred (play (M true) both_true (start (M true)) - 3 * play (M false) both_true (start (M false))) = (3#8).
Proof. vm_compute. reflexivity. Qed.

(* Different losses, in any order, chosen by earlier answers; each of the fixed ones once. *)
Example any_order : map (fixed (fun b : bool => if b then 3 else 2) [2; 3; 2]) [[true; false; false]; [false; true];
  [true; true]; [false; false; false]] = [true; true; false; false].
Proof. vm_compute. reflexivity. Qed.

(* The responses' own machines, and a rule that is decided by them. *)
Theorem responders_pair D : valid (responder (fun _ : unit => 3) three_ok) launch_or_ask true false false pair_rule 3
  D <-> 3#8 <= D.
Proof.
  assert (H := optimal_least (fun _ : unit => 3) three_ok [tt; tt] 3 D).
  assert (E : excess 3 (map (fun _ : unit => 3) [tt; tt]) == 3#8) by (vm_compute; reflexivity).
  rewrite E in H. exact H.
Qed.

(* Optimal composition with deltas: two responses at 3 and a leak; it is less than what the parts cost alone (3/8 +
   1/10). *)
Definition three_budget : list (Q * Q) := [(3, 0); (1, 1#10); (3, 0)].

(* Optimal composition with deltas, computed. *)
Example three_exact : map Qred [exact 3 three_budget; exact 9 three_budget; exact 2 [(2, 1#10); (2, 1#10)]] = [7#16;
  1#10; 37#100].
Proof. vm_compute. reflexivity. Qed.

Lemma three_proper : proper three_budget. Proof. intros p. cbn. intuition; subst; cbn; lra. Qed.
Lemma delta_ok' n : 0 <= delta n <= 1. Proof. destruct (delta_ok n). lra. Qed.

(* Two responses at 3 and one leak cost 7/16 at E = 3. *)
Theorem flt_exact : approx_dp 3 (7#16)
  (filter_machine mech (by_rule (fixed2 loss delta three_budget)) decode (Some true) None None).
Proof.
  intros b. apply (approx_weaken 3 (exact 3 three_budget) 3 (7#16)); [lra|vm_compute; discriminate|].
  apply (optimal_delta mech decode (Some true) None None loss delta three_budget 3 loss_ok delta_ok' mech_private
    three_proper); [lra|auto].
Qed.

(* It is attained: two responses and a leak, launched in another order, and asked in another one. *)
Definition leak_or_both : player nat bit_or_none :=
  Say 1%nat (fun _ => Say 0%nat (fun _ => Say 0%nat (fun _ => Say 2%nat (fun l => match l with
    | Some c => Halt c
    | None => Say 4%nat (fun a => Say 3%nat (fun a' => Halt (is_true a && is_true a')))
    end)))).

(* That is attained. *)
Example flt_exact_attained : let M := filter_machine mech (by_rule (fixed2 loss delta three_budget)) decode (Some
  true) None None in
  Qred (play (M true) leak_or_both (start (M true)) - 3 * play (M false) leak_or_both (start (M false))) = (7#16).
Proof. vm_compute. reflexivity. Qed.

(* A gate that reads answers: a second launch only after a first answer of "true". *)
Definition saw_true (h : list (nat * ans)) (_ : unit) : bool
  := match h with [] => true | _ => existsb (fun x => match x with (S _, Some true) => true | _ => false end) h end.

(* The filter behind this gate. *)
Definition gated_rrs := gated (fun _ : unit => rr) udecode (Some true) None None saw_true (by_rule pair_rule).

(* Its probabilities for three transcripts, computed. *)
Example gated_play : map (fun t => Qred (pr (gated_rrs true) t))
  [[(0, Some true); (0, None); (1, Some true); (0, Some true); (2, Some false)]; [(0, Some true); (1, Some false);
    (0, None)]; [(0, Some true); (1, Some false); (0, Some true)]]%nat = [3#16; 1#4; 0].
Proof. vm_compute. reflexivity. Qed.

(* It keeps the bound of optimal composition. *)
Theorem gated_private : approx_dp 3 (excess 3 [3; 3]) gated_rrs.
Proof.
  apply (gated_valid (fun _ => rr) udecode (Some true) None None saw_true).
  apply (optimal (fun _ : unit => 3) [3; 3]); [cbn; intuition; subst; lra|]. intros _. apply rr_pure.
Qed.
