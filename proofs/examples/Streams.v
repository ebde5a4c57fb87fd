(* Examples: continual mechanisms. *)
From Odometry Require Export Continual Sparse Static DataSets.
From Coq Require Import Lia.

(* A continual mechanism: it answers every record (a number's parity) by randomised response, for ever. Neighbours at
   event level: one record may differ. *)
Definition odd (q : nat) : bool := Nat.odd q.

(* The mechanism answers each number's parity by randomised response. *)
Definition echo : mach.
Proof.
  refine (Machine unit tt (fun _ q => [(3#4, (Some (odd q), tt)); (1#4, (Some (negb (odd q)), tt))]) _ _).
  - intros [] q o; cbn; intuition; subst; cbn; lra.
  - intros [] q; reflexivity.
Defined.

(* The messages of the pair differ. *)
Definition differs (w : nat * nat) : bool := negb (Nat.eqb (fst w) (snd w)).

(* At most one pair differs. *)
Definition event_level (h : list (nat * nat)) : bool := Nat.leb (length (List.filter differs h)) 1.
Notation left_right b P := (play echo (through (identifier b) P tt) tt).

Lemma echo_same w : differs w = false -> forall b, side b w = side (negb b) w.
Proof. unfold differs. destruct (Nat.eqb_spec (fst w) (snd w)) as [E|]; [|discriminate].
  intros _ [|]; cbn; congruence. Qed.

Lemma echo_after P : forall h b, legal event_level h P -> (1 <= length (List.filter differs h))%nat ->
  left_right b P == left_right (negb b) P.
Proof.
  induction P as [x|w k IH|w k IH]; intros h b L C; cbn [through play]; [reflexivity|apply weigh_ext; intros i;
    now apply (IH i h)|].
  destruct L as [E L]. unfold event_level in E. apply PeanoNat.Nat.leb_le in E. rewrite filter_app, app_length in E.
  cbn in E.
  destruct (differs w) eqn:D; [cbn in E; lia|]. cbn. rewrite (echo_same w D b).
  assert (C' : (1 <= length (List.filter differs (h ++ [w])))%nat) by (rewrite filter_app, app_length; lia).
  now rewrite !(fun a => IH a (h ++ [w]) b (L a) C').
Qed.

Lemma echo_before P : forall h b, fair P -> legal event_level h P -> left_right b P <= 3 * left_right (negb b) P.
Proof.
  induction P as [x|w k IH|w k IH]; intros h b F L; cbn [through play].
  - destruct x; lra.
  - rewrite <- weigh_scale. apply weigh_le; [apply F|]. intros i. apply (IH i h); [apply F|apply L].
  - destruct L as [E L]. cbn in F. assert (Pos : forall b a, 0 <= left_right b (k a)).
    { intros b' a. apply play_pos. now apply through_fair. }
    destruct (differs w) eqn:D.
    + assert (C : (1 <= length (List.filter differs (h ++ [w])))%nat) by (rewrite filter_app, app_length; cbn;
        rewrite D; cbn; lia).
      cbn. rewrite !(fun a => echo_after (k a) (h ++ [w]) b (L a) C). assert (P1 := Pos (negb b) (Some true)).
      assert (P2 := Pos (negb b) (Some false)).
      destruct (odd (side b w)), (odd (side (negb b) w)); cbn [negb]; lra.
    + cbn. rewrite (echo_same w D b). assert (I1 := fun a => IH a (h ++ [w]) b (F a) (L a)).
      assert (J1 := I1 (Some true)). assert (J2 := I1 (Some false)). destruct (odd (side (negb b) w)); cbn [negb]; lra.
Qed.

(* The mechanism is (3, 0)-private at event level. *)
Theorem echo_private : continual_private None event_level 3 0 echo.
Proof.
  apply (continual_game None false). intros P F L b. unfold game. cbn [start echo].
  assert (H := echo_before P [] b F L). lra.
Qed.

(* Two of them, created one after the other, asked concurrently: 9, which is attained; a second difference is refused.
   *)
Definition cdecode (q : nat) : command unit nat := match q with O => Launch tt | S k => To (Nat.div2 k) k end.

(* Suitable, and within the budget 9. *)
Definition within9 := suitable eqU (fun _ => event_level) cdecode (by_rule (improved (fun _ => 3) (fun _ => 0) 9 0)).

(* The composition of any number of them. *)
Definition echoes := ext_con_comp (fun _ : unit => echo) cdecode (Some true) None None.

Lemma three (n : unit) : 1 <= (fun _ : unit => 3) n. Proof. cbn. lra. Qed.
Lemma none (n : unit) : 0 <= (fun _ : unit => 0) n < 1. Proof. cbn. lra. Qed.

(* The composition is (9, 0)-private. *)
Theorem echoes_private : continual_private None within9 9 0 echoes.
Proof.
  apply (concurrent_improved None eqU (fun _ => echo) (fun _ => event_level) (fun _ => 3) (fun _ => 0)
    three none (fun _ => echo_private) cdecode (Some true) None None); lra.
Qed.

(* The same for a list of two that is fixed in advance. *)
Theorem echoes_fixed : continual_private None (suitable eqU (fun _ => event_level) cdecode (next_of eqU [tt; tt]))
  9 0 echoes.
Proof.
  assert (H := concurrent_fixed None eqU (fun _ => echo) (fun _ => event_level) (fun _ => 3) (fun _ => 0)
    three none (fun _ => echo_private) cdecode (Some true) None None [tt; tt]).
  intros b. eapply approx_weaken; [| |apply (H b)]; vm_compute; discriminate.
Qed.

(* The bound 9 is attained, and a second difference for the same mechanism is refused. *)
Example echoes_play : let t := [((0, 0), Some true); ((0, 0), Some true); ((1, 2), Some true); ((3, 4), Some true);
  ((2, 2), Some false)]%nat in
  map (fun b => Qred (pr (wrapped None false within9 echoes b) t)) [true; false] = [9#64; 1#64] /\
  map (fun b => Qred (pr (wrapped None false within9 echoes b) (firstn 4 t ++ [((1, 2), None)]%nat))) [true;
    false] = [9#16; 1#16].
Proof. split; vm_compute; reflexivity. Qed.

(* Pure mechanisms of which only the touched ones are charged: three are created, one gets a differing pair; 3. *)
Definition untouched := sparse eqNat eqU (fun _ => event_level) (fun _ => 3) cdecode.

(* Any number of them, of which one gets a differing pair: (3, 0)-private. *)
Theorem echoes_sparse : continual_private None (untouched 3) 3 0 echoes.
Proof.
  apply (concurrent_sparse eqNat None eqU (fun _ => echo) (fun _ => event_level) (fun _ => 3)); [|lra].
  intros _ b. apply (pure_adversaries), echo_private.
Qed.

(* Three are created and one gets a differing pair: the ratio is 3. A differing pair for another one is refused. *)
Example echoes_sparse_play : let t := [((0, 0), Some true); ((0, 0), Some true); ((0, 0), Some true);
    ((1, 1), Some false); ((1, 2), Some true); ((4, 4), Some true); ((5, 5), Some false); ((5, 6), None)]%nat in
  map (fun b => Qred (pr (wrapped None false (untouched 3) echoes b) t)) [true; false] = [81#256; 27#256].
Proof. vm_compute. reflexivity. Qed.

(* With deltas this is false ([HSV25] Thm 5.2). The mechanism breaks with probability 1/10 at its first message, and
   then tells what it gets: alone, with at most two messages and one differing pair, the auditor finds 1/10. A player
   that creates two, and sends a differing pair only to one that is broken, gains 19/100. *)
Definition fragile : mach.
Proof.
  refine (Machine bool false (fun broken q => if broken then [(1, (Some (odd q), true))] else [(9#10, (None, false));
    (1#10, (Some true, true))]) _ _).
  - intros [|] q o; cbn; intuition; subst; cbn; lra.
  - intros [|] q; reflexivity.
Defined.

(* At most two messages, and at most one pair differs. *)
Definition two_messages (h : list (nat * nat)) : bool := Nat.leb (length h) 2 && event_level h.

(* Alone it is private at (1, 1/10) for pairs of 0 and 1, by the verified auditor. *)
Example fragile_alone : map (fun b => Qred (least 1 [(0, 0); (0, 1); (1, 0); (1, 1)]%nat 3
  (wrapped None false two_messages fragile b) (wrapped None false two_messages fragile (negb b)))) [true;
    false] = [1#10; 1#10].
Proof. vm_compute. reflexivity. Qed.

(* One attempt: create it, send one message, and a differing pair if it is broken. *)
Definition try (n : nat) (next : player (nat * nat) bit_or_none) : player (nat * nat) bit_or_none :=
  let q := (1 + 2 * n)%nat in
  Say (0, 0)%nat (fun _ => Say (q, q) (fun a => match a with
    | None => next
    | Some _ => Say (q, S q) (fun a => Halt match a with Some true => Nat.eqb 0 n || Nat.eqb 1 n | _ => false end)
    end)).

(* Of any number, one gets a differing pair. *)
Definition fragile_rule (h : list (nat * nat)) : bool
  := sparse eqNat eqU (fun _ => two_messages) (fun _ => 2) cdecode 2 h.

(* Two attempts gain 19/100, above 1/10: parallel composition in this form is false for delta above 0. *)
Example fragile_two : let P := try 0 (try 1 (Halt false)) in
  map (fun b => Qred (play (wrapped None false fragile_rule (ext_con_comp (fun _ : unit => fragile) cdecode (Some
    true) None None) b) P
    (start (wrapped None false fragile_rule (ext_con_comp (fun _ : unit => fragile) cdecode (Some true) None None)
      b)))) [true; false] = [19#100; 0].
Proof. vm_compute. reflexivity. Qed.

(* Any number of echoes that are declared to get identical pairs only, and one that may get a differing one. *)
Definition eqUB : forall a b : unit * bool, {a = b} + {a <> b}. Proof. decide equality; [apply bool_dec|apply eqU].
  Defined.

(* Messages: 0 and 1 create; the others ask. *)
Definition ddecode (q : nat) : command (unit * bool) nat :=
  match q with 0 => Launch (tt, false) | 1 => Launch (tt, true) | S (S k) => To (Nat.div2 k) k end%nat.

(* Any number that may get identical pairs only, and one that may get a differing one: (3, 0)-private. *)
Theorem echoes_declared : continual_private None
  (suitable eqUB (may eqNat (fun _ => event_level)) ddecode
  (by_rule (improved (may_loss (fun _ => 3)) (may_delta (fun _ => 0)) 3 0))) 3 0
  (ext_con_comp (fun _ => echo) ddecode (Some true) None None).
Proof.
  apply (concurrent_declared eqNat None eqUB (fun _ => echo) (fun _ => event_level) (fun _ => 3) (fun _ => 0)
    three none (fun _ => echo_private)); lra.
Qed.

(* Interactive mechanisms as continual ones: created, then told which two data sets; two of them concurrently. *)
Definition nearb (x y : nat) : bool := Nat.eqb y (S x) || Nat.eqb x (S y).
Notation growing := (as_cm grow (Some true) None).

(* The mechanism on data sets, as a continual one, is (2, 1/10)-private. *)
Theorem growing_private : continual_private None (static eqNat nearb) 2 (1#10) growing.
Proof.
  apply static_iff; try lra. intros x y N. apply grow_private.
  unfold nearb in N. apply orb_prop in N. destruct N as [N|N]; apply PeanoNat.Nat.eqb_eq in N; [now left|now right].
Qed.

(* Messages: create, send a data set, ask. *)
Definition gdecode (w : nat + nat) : command unit (nat + nat) :=
  match w with inl 0 => Launch tt | inl (S k) => To (Nat.div k 3) (inl (Nat.modulo k 3)) | inr j => To j (inr 0)
    end%nat.

(* Two of them, concurrently: (4, 19/100). *)
Theorem growing_fixed : continual_private None
  (suitable eqU (fun _ => static eqNat nearb) gdecode (next_of eqU [tt; tt])) 4 (19#100)
  (ext_con_comp (fun _ : unit => growing) gdecode (Some true) None None).
Proof.
  assert (H := concurrent_fixed None eqU (fun _ => growing) (fun _ => static eqNat nearb) (fun _ => 2) (fun _ => 1#10)
    (fun _ => ltac:(cbn; lra)) (fun _ => ltac:(cbn;
      lra)) (fun _ => growing_private) gdecode (Some true) None None [tt; tt]).
  intros b. eapply approx_weaken; [| |apply (H b)]; vm_compute; discriminate.
Qed.

(* The remaining hypotheses. *)
Lemma echo_pure : pure_dp 3 (wrapped None false event_level echo).
Proof. intros b. apply (pure_adversaries), echo_private. Qed.

(* Advanced composition. *)
Theorem echoes_advanced : continual_private None
  (suitable eqU (fun _ => event_level) cdecode (by_rule (within (fun _ => rate 0 3) 30))) 20 (30 * pow (/ 20) 1)
  echoes.
Proof. apply (concurrent_advanced None eqU (fun _ => echo) (fun _ => event_level) 0 (fun _ => 3)); try lra. intros _.
  apply echo_pure. Qed.

(* The Renyi filter of order 3. *)
Theorem echoes_renyi : continual_renyi None 1
  (suitable eqU (fun _ => event_level) cdecode (by_rule (within (fun _ => rate 1 3) 50))) 50 echoes.
Proof.
  apply (concurrent_renyi None eqU (fun _ => echo) (fun _ => event_level) 1 (fun _ => rate 1 3)); [|lra].
  intros _. apply (pure_renyi); [lra|apply echo_pure].
Qed.

(* Continual mechanisms: two echoes, each with one differing pair. *)
Theorem echoes_optimal : continual_private None (suitable eqU (fun _ => event_level) cdecode (by_rule pair_rule)) 3
  (excess 3 [3; 3]) echoes.
Proof.
  apply (concurrent_optimal (fun _ : unit => 3) [3; 3]) with (bad := None); [cbn; intuition; subst; lra|]. intros _.
  apply echo_pure.
Qed.

(* Continual mechanisms with deltas: two at (2, 1/10). *)
Theorem growing_exact : continual_private None
  (suitable eqU (fun _ => static eqNat nearb) gdecode
  (by_rule (fixed2 (fun _ => 2) (fun _ => 1#10) [(2, 1#10); (2, 1#10)]))) 2 (exact 2 [(2, 1#10); (2, 1#10)])
  (ext_con_comp (fun _ : unit => growing) gdecode (Some true) None None).
Proof.
  apply (concurrent_exact eqU (fun _ => growing) (fun _ => static eqNat nearb) None); try (intros; lra); [intros _;
    apply growing_private|].
  intros p. cbn. intuition; subst; cbn; lra.
Qed.

(* Continual: any number of echoes that may get identical pairs only, and two that may get a differing one each. *)
Theorem echoes_declared_exact : continual_private None
  (suitable eqUB (may eqNat (fun _ => event_level)) ddecode (by_rule (declared (fun _ : unit => 3) (fun _ => 0) [(3,
    0); (3, 0)]))) 3 (exact 3 [(3, 0); (3, 0)])
  (ext_con_comp (fun _ => echo) ddecode (Some true) None None).
Proof.
  apply (declared_exact eqNat None eqUB (fun _ => echo) (fun _ => event_level) (fun _ => 3) (fun _ => 0));
    try (intros; lra); [|apply twice_proper].
  intros _. apply echo_private.
Qed.
