(* Examples: randomised response, a machine that tells its bit with a small probability, and a machine with a hidden
   state; filters over them; players with coins; a person in the middle. *)
From Odometry Require Export Nested Advanced Players PostProcessing Auditor.
From Coq Require Import Lia.

(* Answers: a bit, or None. *)
Notation ans := (option bool).
(* Equality of these answers is decidable. *)
Definition same_answer : forall a b : ans, {a = b} + {a <> b}.
Proof. decide equality. apply bool_dec. Defined.

(* All of them. *)
Definition all : list ans := [Some true; Some false; None].
Lemma all_all : forall a, In a all.
Proof. intros [[|]|]; cbn; auto. Qed.
Lemma all_once : NoDup all.
Proof. repeat constructor; cbn; intuition discriminate. Qed.

(* The alphabet of the examples. *)
Canonical bit_or_none := Alphabet ans same_answer all all_all all_once.

Notation mach := (machine nat bit_or_none).

(* A law on the answers. *)
Record law_of := Law { chance : ans -> Q; chance_pos : forall a, 0 <= chance a; chance_one : sum chance all == 1 }.

(* One step: an answer from the law, afterwards None. *)
Definition once_step (p : law_of) (asked : bool) (_ : nat) : list (Q * (ans * bool)) :=
  if asked then [(1, (None, true))] else map (fun a => (chance p a, (a, true))) all.

(* The machine that answers once. *)
Definition once (p : law_of) : mach.
Proof.
  refine (Machine bool false (once_step p) _ _).
  - intros [|] q o; cbn; [intros [<-|[]]; cbn; lra|]. assert (C := chance_pos p). intuition; subst; cbn; apply C.
  - intros [|] q; [reflexivity|]. exact (chance_one p).
Defined.

(* What it takes for it to be (e, d)-private. *)
Lemma once_later p p' P : play (once p) P true == play (once p') P true.
Proof.
  induction P as [x|w k IH|q k IH]; cbn [play]; [reflexivity|apply weigh_ext; intros; apply IH|]. cbn. now rewrite IH.
Qed.

Lemma once_later_le p P : fair P -> 0 <= play (once p) P true <= 1.
Proof.
  intros F. split; [now apply play_pos|]. revert F. induction P as [x|w k IH|q k IH]; intros F; cbn [play] in *.
  - destruct x; lra.
  - destruct F as [[Hw One] F]. apply Qle_trans with (weigh w (fun _ => 1)); [apply weigh_le; auto|].
    rewrite weigh_const, One. lra.
  - cbn. rewrite Qplus_0_r, Qmult_1_l. apply IH, F.
Qed.

Lemma once_private e d p p' : 1 <= e -> 0 <= d ->
  (forall x y z, 0 <= x <= 1 -> 0 <= y <= 1 -> 0 <= z <= 1 ->
  chance p (Some true) * x + chance p (Some false) * y + chance p None * z
  <= e * (chance p' (Some true) * x + chance p' (Some false) * y + chance p' None * z) + d) ->
  approx e d (once p) (once p').
Proof.
  intros He Hd H. apply players. intros P. induction P as [x|w k IH|q k IH]; intros F.
  - cbn. destruct x; lra.
  - destruct F as [[Hw One] F]. cbn [play]. apply Qle_trans
      with (weigh w (fun i => e * play (once p') (k i) (start (once p')) + d)).
    + apply weigh_le; [assumption|]. intros i. now apply IH.
    + rewrite weigh_plus, weigh_scale, weigh_const, One. lra.
  - cbn [play]. cbn. cbn in F. rewrite !(once_later p p').
    assert (L := fun a => once_later_le p' (k a) (F a)).
    specialize (H _ _ _ (L (Some true)) (L (Some false)) (L None)). lra.
Qed.

(* Inequalities about the three answers. *)
Ltac small := intros [[|]|]; cbn; lra.

(* Randomized response with odds 3 : 1, and a machine that tells the bit with probability 1/10. *)
Definition rr_law (b : bool) : law_of.
Proof. refine (Law (fun a => match a with Some c => if Bool.eqb b c then 3#4 else 1#4 | None => 0 end) _ _);
  [destruct b; small|destruct b; reflexivity]. Defined.

(* A law that tells the bit with probability 1/10, and nothing else. *)
Definition leak_law (b : bool) : law_of.
Proof. refine (Law (fun a => match a with Some c => if Bool.eqb b c then 1#10 else 0 | None => 9#10 end) _ _);
  [destruct b; small|destruct b; reflexivity]. Defined.

(* Randomised response with odds 3 : 1. *)
Definition rr (b : bool) : mach := once (rr_law b).

(* The machine that leaks its bit with probability 1/10: (1, 1/10)-private. *)
Definition leak (b : bool) : mach := once (leak_law b).

Lemma rr_private : approx_dp 3 0 rr.
Proof. intros [|]; apply once_private; try lra; intros; cbn; lra. Qed.
Lemma leak_private : approx_dp 1 (1#10) leak.
Proof. intros [|]; apply once_private; try lra; intros; cbn; lra. Qed.
Lemma rr_pure : pure_dp 3 rr.
Proof. intros b. apply (pure_adversaries), rr_private. Qed.

(* The filter of both: the name says which. Messages: 0, 1 launch; 2 + j asks child j. *)
Definition mech (n : bool) := if n then leak else rr.

(* Their losses. *)
Definition loss (n : bool) : Q := if n then 1 else 3.

(* Their deltas. *)
Definition delta (n : bool) : Q := if n then 1#10 else 0.

(* Messages: 0 and 1 launch; 2 + j asks child j. *)
Definition decode (q : nat) : command bool nat :=
  match q with 0 => Launch false | 1 => Launch true | S (S j) => To j 0%nat end%nat.

(* The (epsilon, delta) filter over both. *)
Definition flt E D := filter_machine mech (by_rule (improved loss delta E D)) decode (Some true) None None.

Lemma mech_private n : approx_dp (loss n) (delta n) (mech n).
Proof. destruct n; [apply leak_private|apply rr_private]. Qed.
Lemma loss_ok n : 1 <= loss n. Proof. destruct n; cbn; lra. Qed.
Lemma delta_ok n : 0 <= delta n < 1. Proof. destruct n; cbn; lra. Qed.

(* It is (E, D)-private, for every budget. *)
Theorem flt_private E D : 1 <= E -> 0 <= D -> approx_dp E D (flt E D).
Proof. apply improved_filter; [apply loss_ok|apply delta_ok|apply mech_private]. Qed.

(* The same filter at E = 1. *)
Definition level D := flt 1 D.

(* The verified auditor computes 19/100 = 1 - (9/10)^2 for two leaks: the improved basic rule is attained. *)
Example two_leaks : Qred (least 1 [1; 2; 3]%nat 4 (level (19#100) true) (level (19#100) false)) = (19#100).
Proof. vm_compute. reflexivity. Qed.

Lemma from_red x y : Qred x = y -> x == y.
Proof. intros <-. symmetry. apply Qred_correct. Qed.

(* So some adversary and some set of views attain the bound. *)
Theorem two_leaks_attained : exists A T,
  seen (level (19#100) true) A T == 1 * seen (level (19#100) false) A T + (19#100).
Proof.
  destruct (least_attained 1 [1; 2; 3]%nat 4 (level (19#100) true) (level (19#100) false)) as [A [T [_ E]]].
  exists A, T. rewrite E. apply Qplus_comp; [reflexivity|exact (from_red _ _ two_leaks)].
Qed.

(* Randomised adversaries: one that tosses a coin which mechanism to launch, asks it, and accepts if it says the bit
   true. *)
Definition guess (c : nat) : player nat bit_or_none
  := Say c (fun _ => Say 2%nat (fun a => Halt match a with Some true => true | _ => false end)).

(* The player tosses a coin to decide which mechanism it launches. *)
Definition tossing : player nat bit_or_none := Toss [1#3;
  2#3] (fun i => match i with O => guess 0 | _ => guess 1 end%nat).

Lemma tossing_fair : fair tossing.
Proof. cbn. repeat split; try (intros p [<-|[<-|[]]]; lra); try reflexivity. intros [|i]; cbn; auto. Qed.

(* It is within the filter's bound. *)
Example tossing_bound : play (flt 9 1 true) tossing [] <= 9 * play (flt 9 1 false) tossing [] + 1.
Proof.
  apply (proj1 (players 9 1 _ _) (flt_private 9 1 ltac:(lra) ltac:(lra) true)), tossing_fair.
Qed.

(* Its acceptance probabilities, computed. *)
Example tossing_plays : Qred (play (flt 9 1 true) tossing []) = (19#60) /\ Qred (play (flt 9 1 false) tossing []) =
  (1#12).
Proof. split; vm_compute; reflexivity. Qed.

(* A person in the middle of the filter: for one question, launches two, asks both, and tells whether they agree on
   true; on "false", answers by a coin. The ratio 9 is attained without the coin, and still bounded with it. *)
Definition eager (coin : Q) : plan (Reply := bits) (Qry := nat) (Ans := bit_or_none) unit :=
  Call 0%nat (fun _ => Call 0%nat (fun _ => Call 2%nat (fun a => Call 3%nat (fun a' =>
    match a, a' with Some true, Some true => Answer true tt | _, _ => Coin [coin;
      1 - coin] (fun i => Answer (Nat.eqb i 0) tt) end)))).

(* The same as a person in the middle. *)
Definition both_of (coin : Q) (C : 0 <= coin <= 1) : @middle unit bits nat bit_or_none.
Proof.
  refine (Middle unit tt (fun _ _ => eager coin) _). intros _ _ _ _ a a'.
  assert (F : distribution [coin; 1 - coin] /\ (forall i : nat, True)).
  { repeat split. { intros p [<-|[<-|[]]]; lra. } cbn. ring. }
  destruct a as [[|]|], a' as [[|]|]; cbn; auto.
Defined.

(* No coin. *)
Definition zero : 0 <= 0 <= 1. Proof. lra. Qed.

(* A coin of 1/10. *)
Definition tenth : 0 <= 1#10 <= 1. Proof. lra. Qed.

(* The filter behind it is (9, 0)-private. *)
Theorem eager_private coin C :
  approx 9 0 (behind (both_of coin C) (flt 9 0 true)) (behind (both_of coin C) (flt 9 0 false)).
Proof.
  apply postprocess. apply (flt_private 9 0 ltac:(lra) ltac:(lra) true).
Qed.

(* Without the coin the ratio 9 is attained; with it the ratio is smaller. *)
Example eager_plays :
  map (fun b => Qred (pr (behind (both_of 0 zero) (flt 9 0 b)) [(tt, true)])) [true; false] = [9#16; 1#16] /\
  map (fun b => Qred (pr (behind (both_of (1#10) tenth) (flt 9 0 b)) [(tt, true)])) [true; false] = [97#160; 5#32].
Proof. split; vm_compute; reflexivity. Qed.

(* A machine with a hidden state. Its first answer carries no information, but tosses a hidden coin, which decides
   whether all later answers are the bit or its opposite. *)
Definition hidden_step (b : bool) (s : option bool) (_ : nat) : list (Q * (ans * option bool)) :=
  match s with
  | None => [(3#4, (None, Some false)); (1#4, (None, Some true))]
  | Some c => [(1, (Some (xorb b c), Some c))]
  end.

(* The machine; its state is the coin, once it has been tossed. *)
Definition hidden (b : bool) : mach.
Proof.
  refine (Machine (option bool) None (hidden_step b) _ _).
  - intros [|] q o; cbn; intuition; subst; cbn; lra.
  - intros [|] q; reflexivity.
Defined.

Lemma hidden_flip b c t :
  expect (hidden b) (Some c) t (fun _ => 1) == expect (hidden (negb b)) (Some (negb c)) t (fun _ => 1).
Proof.
  induction t as [|[q a] t IH]; [reflexivity|]. cbn [expect hidden step hidden_step sum fst snd].
  replace (xorb (negb b) (negb c)) with (xorb b c) by (destruct b, c; reflexivity).
  destruct (same (Some (xorb b c)) a); [now rewrite IH|reflexivity].
Qed.

(* The machine with the hidden state is pure with loss 3, although no single answer is noisy given the state. *)
Theorem hidden_private : pure_dp 3 hidden.
Proof.
  intros b [|[q a] t]; [unfold pr; cbn; lra|]. unfold pr.
  change (start (hidden b)) with (@None bool). change (start (hidden (negb b))) with (@None bool).
  cbn [expect]. change (step (hidden b) None q) with (hidden_step b None q).
  change (step (hidden (negb b)) None q) with (hidden_step (negb b) None q). cbn [hidden_step sum fst snd].
  assert (H1 := hidden_flip b false t). assert (H2 := hidden_flip b true t). cbn [negb] in H1, H2.
  assert (X : 0 <= expect (hidden (negb b)) (Some true) t (fun _ => 1)) by (apply expect_pos; intros; lra).
  assert (Y : 0 <= expect (hidden (negb b)) (Some false) t (fun _ => 1)) by (apply expect_pos; intros; lra).
  destruct (same None a); lra.
Qed.

(* A filter with budget 9 over the hidden machine. Messages: 0 launches, 1 + j asks child j. *)
Definition hiddens := filter_machine (fun _ : unit => hidden) (by_rule (within (fun _ => 3) 9))
  (fun q => match q with O => Launch tt | S j => To j 0%nat end) (Some true) (Some false) (Some false).

(* The filter over hidden machines has its budget as loss. *)
Theorem hiddens_private : pure_dp 9 hiddens.
Proof. apply pure_filter; [|lra]. intros _. apply hidden_private. Qed.

(* Its budget is attained: two children are launched and asked in turns; a third launch and a wrong child number are
   answered with "no". *)
Example hiddens_attain : let t := [(0, Some true); (0, Some true); (2, None); (1, None); (0, Some false);
    (1, Some true); (2, Some true); (7, Some false)]%nat in
  map (fun b => Qred (pr (hiddens b) t)) [true; false] = [9#16; 1#16].
Proof. vm_compute. reflexivity. Qed.

(* Players who toss coins, and the auditor's bound. *)
Example tossing_audited : play (flt 9 1 true) tossing [] <= 9 * play (flt 9 1 false) tossing [] + least 9 [0; 1;
  2]%nat 2 (flt 9 1 true) (flt 9 1 false).
Proof.
  apply (least_bounds_players 9 [0; 1; 2]%nat 2 (flt 9 1 true) (flt 9 1 false) tossing tossing_fair).
  cbn. intros [|i]; cbn; intuition.
Qed.
