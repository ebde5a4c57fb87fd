(* Examples: groups, stable transformations, trees of accounts, parts. *)
From Odometry Require Export Stability Tree Parallel SubAccounts RenyiGroup Rules.
From Coq Require Import Lia.

(* Data sets 0, 1, 2: the chance of "true" is such that the geometric sum of group privacy is attained: from 2 to 0,
   7/10 = 2^2 * 1/10 + 1/10 * (1 + 2). *)
Definition grow_true (x : nat) : Q := match x with O => 1#10 | 1%nat => 3#10 | _ => 7#10 end.

(* The law of the answer on data set x. *)
Definition grow_law (x : nat) : law_of.
Proof.
  refine (Law (fun a => match a with Some true => grow_true x | Some false => 1 - grow_true x | None => 0 end) _ _);
    destruct x as [|[|x]]; try small; reflexivity.
Defined.

(* The mechanism: it answers once. *)
Definition grow (x : nat) : mach := once (grow_law x).

(* Neighbours: numbers that differ by 1. *)
Definition next_to (x y : nat) : Prop := y = S x \/ x = S y.

Lemma grow_private : private next_to (approx 2 (1#10)) grow.
Proof.
  intros x y [-> | ->] [|]; cbn [pair negb]; apply once_private; try lra;
    destruct y as [|[|?]] || destruct x as [|[|?]]; intros; cbn; lra.
Qed.

(* Two changes cost (4, 3/10). *)
Theorem grow_group : private (chain next_to 2) (approx (pow 2 2) ((1#10) * geometric 2 2)) grow.
Proof. apply group_approx; [lra|]. apply grow_private. Qed.

(* That is attained between the data sets 2 and 0. *)
Example grow_attained : let A := Ask 0%nat (fun _ => Stop) in let T t
  := match t with [(_, Some true)] => true | _ => false end in
  seen (grow 2) A T == pow 2 2 * seen (grow 0) A T + (1#10) * geometric 2 2 /\ chain next_to 2 2%nat 0%nat.
Proof.
  split; [vm_compute; reflexivity|].
  apply there with 1%nat; [right; reflexivity|]. apply there with 0%nat; [right; reflexivity|constructor].
Qed.

(* Launches with the data as they are, and doubled (2-stable); the filter charges (2, 1/10) and (4, 3/10). *)
Definition times (n : bool) : nat := if n then 2%nat else 1%nat.

(* The data as they are, or doubled. *)
Definition via (n : bool) (x : nat) : nat := (times n * x)%nat.

Lemma via_stable n : stable next_to next_to (times n) (via n).
Proof.
  intros x y N. exists (times n). split; [lia|]. destruct n; unfold via, times.
  - destruct N as [-> | ->].
    + apply there with (2 * x + 1)%nat; [left; lia|]. apply there with (2 * S x)%nat; [left; lia|constructor].
    + apply there with (2 * y + 1)%nat; [right; lia|]. apply there with (2 * y)%nat; [right; lia|constructor].
  - destruct N as [-> | ->].
    + apply there with (1 * S x)%nat; [left; lia|constructor].
    + apply there with (1 * y)%nat; [right; lia|constructor].
Qed.

(* The filter with launches through these transformations is (8, 37/100)-private. *)
Theorem launches_private : private next_to (approx 8 (37#100))
  (session (launched (fun _ => nat) (fun _ => grow) via) decode (Some true) None None
  (by_rule (improved (cost_e (fun _ => 2) times) (cost_d (fun _ => 2) (fun _ => 1#10) times) 8 (37#100)))).
Proof.
  apply (stable_launches next_to (fun _ : bool => nat) (fun _ => next_to) (fun _ => grow) (fun _ => 2) (fun _ => 1#10));
    try lra; [intros; lra|intros; apply grow_private|apply via_stable|intros [|]; vm_compute; reflexivity].
Qed.

(* Both are launched; a third is not. *)
Example launches : let rule := by_rule (improved (cost_e (fun _ => 2) times) (cost_d (fun _ => 2) (fun _ => 1#10)
  times) 8 (37#100)) in
  (rule [] true, rule [true] false, rule [true; false] false) = (true, true, false).
Proof. vm_compute. reflexivity. Qed.

(* A tree: two teams and their root. A name is a team and a mechanism; only one team's data differ between the data
   sets. The root has room for two randomised responses, each team for one. *)
Definition tname : Type := bool * bool.

(* A launch is charged to its team and to the root. *)
Definition tpath (n : tname) : list (option bool) := [Some (fst n); None].

(* Equality of accounts is decidable. *)
Definition eqO : forall a b : option bool, {a = b} + {a <> b} := same_answer.

(* Each team has room for one response, the root for two. *)
Definition trule (a : option bool) : list tname -> bool :=
  match a with Some _ => within (fun _ => 3) 3 | None => within (fun _ => 3) 9 end.

(* Randomised response on the team's data. If "other" is false, only the data of team "true" differ. *)
Definition tmech (other : bool) (n : tname) (b : bool) : mach
  := if fst n then rr b else if other then rr b else rr true.

(* Messages: 0 and 1 launch for a team; 2 + j asks child j. *)
Definition tdecode (q : nat) : command tname nat :=
  match q with 0 => Launch (false, false) | 1 => Launch (true, false) | S (S j) => To j 0%nat end%nat.

(* The filter of the tree. *)
Definition teams other := filter_machine (tmech other) (tree eqO tpath trule) tdecode (Some true) None None.

(* All data differ: the root's bound, 9, which is attained. *)
Theorem teams_root : pure_dp 9 (teams true).
Proof.
  intros b. apply (pure_adversaries).
  apply (root_private (tmech true) tdecode (Some true) None None eqO tpath trule None 9 0); [intros n; cbn; auto|].
  apply (pure_valid (tmech true) tdecode (Some true) None None (fun _ => 3)); [|lra].
  intros [[|] ?]; cbn; apply rr_pure.
Qed.

(* Teams without end, each opened by its first launch, with the cap 3^c that its name carries. *)
Definition open_path (n : nat * nat) : list (option (nat * nat)) := [Some n; None].

(* A team's cap is read off its name; the root has room for two. *)
Definition open_rule (a : option (nat * nat)) : list (nat * nat) -> bool :=
  match a with Some (_, c) => within (fun _ => 3) (pow 3 c) | None => within (fun _ => 3) 9 end.

(* Equality of these accounts is decidable. *)
Definition eqOpen : forall a b : option (nat * nat), {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.

(* With teams of any number the root's bound holds. *)
Theorem open_teams (dec : nat -> command (nat * nat) nat) :
  pure_dp 9 (filter_machine (fun _ => rr) (tree eqOpen open_path open_rule) dec (Some true) None None).
Proof.
  intros b. apply (pure_adversaries).
  apply (root_private (fun _ => rr) dec (Some true) None None eqOpen open_path open_rule None 9 0); [intros n; cbn;
    auto|].
  apply (pure_valid (fun _ => rr) dec (Some true) None None (fun _ => 3)); [|lra]. intros _. apply rr_pure.
Qed.

(* Only the data of team "true" differ: that team's bound, 3, for all that both teams see. *)
Theorem teams_sub : pure_dp 3 (teams false).
Proof.
  apply (sub_account_pure (tmech false) tdecode (Some true) None None eqO tpath trule (Some true) (fun _ => 3) 3);
    try lra; auto.
  - intros [[|] n] C; [apply rr_pure|]. cbn in C. discriminate.
  - intros [[|] n] C b t; cbn in C; [discriminate|]. cbn. lra.
Qed.

(* Probabilities of one transcript, computed: 9 is attained when all data differ, 3 when one team's data differ. *)
Example teams_play : let t := [(0, Some true); (1, Some true); (3, Some true); (2, Some true); (1, None)]%nat in
  map (fun b => Qred (pr (teams true b) t)) [true; false] = [9#16; 1#16] /\
  map (fun b => Qred (pr (teams false b) t)) [true; false] = [9#16; 3#16].
Proof. split; vm_compute; reflexivity. Qed.

(* Two parts, each with room for one response: the whole is 3-private, and a record that moves costs 9. *)
Definition ppart (n : tname) : bool := fst n.

(* The mechanism on a part. *)
Definition pleaf (n : tname) (x : bool) : mach := rr x.

(* The filter on data of two parts. *)
Definition split_session := session (on_part ppart pleaf) tdecode (Some true) None None
  (parts bool_dec ppart (fun p => within (fun _ => 3) 3)).

(* Neighbours: different pieces. *)
Definition differ (x y : bool) : Prop := x <> y.

(* One changed part costs 3. *)
Theorem split_private : private (one_part differ) (pure 3) split_session.
Proof.
  apply (parallel_pure bool_dec differ ppart pleaf tdecode (Some true) None None (fun _ => 3) (fun _ => 3));
    [|intros; lra].
  intros n x y N b. destruct x, y; try (now elim N); destruct b; cbn;
    first [apply (rr_pure true)|apply (rr_pure false)].
Qed.

(* The same with deltas. *)
Theorem split_approx : private (one_part differ) (approx 3 (1#10))
  (session (on_part ppart (fun n x => mech (snd n) x)) tdecode (Some true) None None
  (parts bool_dec ppart (fun p => improved (fun n => loss (snd n)) (fun n => delta (snd n)) 3 (1#10)))).
Proof.
  apply (parallel bool_dec differ ppart (fun n x => mech (snd n) x) tdecode (Some true) None None
    (fun n => loss (snd n)) (fun n => delta (snd n)) (fun _ => 3) (fun _ => 1#10)); try (intros; cbn; lra).
  - intros n. apply loss_ok.
  - intros n. apply delta_ok.
  - intros n x y N b. assert (H := mech_private (snd n)).
    destruct x, y; try (now elim N); destruct b; cbn; first [exact (H true)|exact (H false)].
Qed.

(* A record that moves between the parts costs 9, by a chain of two changes. *)
Theorem split_moved : private (distance (one_part differ) 2) (pure 9) split_session.
Proof. intros x y D b. assert (H := distance_pure (one_part differ) 3 split_session ltac:(lra) split_private 2 x y D b).
  eapply pure_weaken; [|exact H]. cbn. lra. Qed.

(* Better, also with deltas: the two parts' bounds compose. *)
Theorem split_several : private (these_parts differ [true; false]) (approx 9 (19#100))
  (session (on_part ppart (fun n x => mech (snd n) x)) tdecode (Some true) None None
  (parts bool_dec ppart (fun p => improved (fun n => loss (snd n)) (fun n => delta (snd n)) 3 (1#10)))).
Proof.
  intros x y N b. apply (approx_weaken (product_of (fun _ : bool => 3) [true;
    false]) (1 - product_of (fun _ : bool => 1 - (1#10)) [true; false]));
    [cbn; lra|cbn; lra|].
  revert x y N b. apply (parallel_several bool_dec differ ppart (fun n x => mech (snd n) x) tdecode
    (Some true) None None (fun n => loss (snd n)) (fun n => delta (snd n)) (fun _ => 3) (fun _ => 1#10));
      try (intros; cbn; lra).
  - intros n. apply loss_ok.
  - intros n. apply delta_ok.
  - intros n x y N b. assert (H := mech_private (snd n)).
    destruct x, y; try (now elim N); destruct b; cbn; first [exact (H true)|exact (H false)].
Qed.

(* Probabilities of one transcript for data that differ in both parts, in one part, or not at all. *)
Example split_plays : let t := [(0, Some true); (1, Some true); (3, Some true); (2, Some true); (1, None)]%nat in
  map (fun x => Qred (pr (split_session x) t)) [fun _ => true; fun p => p; fun _ => false] = [9#16; 3#16; 1#16].
Proof. vm_compute. reflexivity. Qed.

(* A team whose cap is in another currency: rates of order 2, for advanced composition. *)
Definition arule (a : option bool) : list tname ->
  bool := match a with Some _ => within (fun _ => rate 0 3) 30 | None => within (fun _ => 3) 81 end.

(* Advanced composition for the data of one team. *)
Theorem teams_sub_advanced : approx_dp 20 (30 * pow (/ 20) 1)
  (filter_machine (tmech false) (tree eqO tpath arule) tdecode (Some true) None None).
Proof.
  apply (sub_account_advanced (tmech false) tdecode (Some true) None None eqO tpath arule (Some true) 0 (fun _ =>
    3)); try lra; auto.
  - intros [[|] n] C; [apply rr_pure|]. cbn in C. discriminate.
  - intros [[|] n] C b t; cbn in C; [discriminate|]. cbn. lra.
Qed.

(* Pairs of data sets chosen at launch: equal ones are free. *)
Definition picks (q : nat) : command (pick next_to (Kind := unit)) nat :=
  match q with
  | 0 => Launch (Pick next_to tt 0 1 (or_intror (or_introl eq_refl)))
  | 1 => Launch (Pick next_to tt 2 2 (or_introl eq_refl))
  | S (S j) => To j 0
  end%nat.

(* The loss of a launch on a pair of data sets. *)
Definition pl := pick_loss eqNat next_to (fun _ : unit => 2).

(* Its delta. *)
Definition pd := pick_delta eqNat next_to (fun _ : unit => 1#10).

(* The filter with one differing pair is (2, 1/10)-private. *)
Theorem picks_private : approx_dp 2 (1#10)
  (filter_machine (picked next_to (fun _ : unit => grow)) (by_rule (improved pl pd 2 (1#10))) picks (Some true) None
  None).
Proof.
  apply (chosen eqNat next_to (fun _ => grow) (fun _ => 2) (fun _ => 1#10)); try (intros; lra). intros _.
  apply grow_private.
Qed.

(* Launches on equal data sets are free; a second one on different data sets is refused. *)
Example picks_play : Qred (pr (filter_machine (picked next_to (fun _ : unit => grow)) (by_rule (improved pl pd 2
  (1#10))) picks (Some true) None None true)
  [(1, Some true); (0, Some true); (1, Some true); (0, None); (3, Some true)]%nat) = (1#10).
Proof. vm_compute. reflexivity. Qed.

(* A team's bound for its own launches after another team's launch. *)
Theorem alone_after : approx_dp 3 0 (filter_machine (tmech true) (alone eqO tpath trule (Some true) [(false,
  false)]) tdecode (Some true) None None).
Proof.
  apply (team_alone (tmech true) tdecode (Some true) None None eqO tpath trule (Some true) [(false, false)]);
    [reflexivity| |reflexivity].
  apply (pure_valid (tmech true) tdecode (Some true) None None (fun _ => 3)); [|lra].
  intros [[|] ?]; cbn; apply rr_pure.
Qed.

Lemma rr_differ : private differ (pure 3) rr.
Proof. intros x y N b. destruct x, y; try (now elim N); destruct b; cbn;
  first [apply (rr_pure true)|apply (rr_pure false)]. Qed.

(* The pure filter on data sets. *)
Theorem rr_session : private differ (pure 9)
  (session (fun (_ : unit) x => rr x) udecode (Some true) None None (by_rule (within (fun _ => 3) 9))).
Proof. apply session_pure; [|lra]. intros _. apply rr_differ. Qed.

(* The Renyi filter on data sets. *)
Theorem rr_session_renyi : private differ (renyi_close 1 50)
  (session (fun (_ : unit) x => rr x) udecode (Some true) None None (by_rule (within (fun _ => rate 1 3) 50))).
Proof.
  apply session_renyi; [|lra]. intros _ x y N.
  apply (pure_renyi); [lra|]. now apply rr_differ.
Qed.

(* A team whose cap is optimal composition: two responses at 3 are (3, 3/8) for the team's own data. *)
Definition orule (a : option bool) : list tname -> bool :=
  match a with Some _ => fixed2 (fun _ => 3) (fun _ => 0) [(3, 0); (3, 0)] | None => within (fun _ => 3) 81 end.
Lemma twice_proper : proper [(3, 0); (3, 0)]. Proof. intros p. cbn. intuition; subst; cbn; lra. Qed.

(* Optimal composition for the data of one team. *)
Theorem teams_sub_any : approx_dp 3 (exact 3 [(3, 0); (3, 0)])
  (filter_machine (tmech false) (tree eqO tpath orule) tdecode (Some true) None None).
Proof.
  apply (sub_account_any eqO tpath (tmech false) tdecode (Some true) None None orule (Some true) (fun _ => 3) (fun _
    => 0)); try lra; auto.
  - apply (trials_fixed (fun _ => 3) (fun _ => 0)); try (intros; lra). apply twice_proper.
  - intros [[|] n] C; [|cbn in C; discriminate]. split; [lra|]. split; [lra|]. apply rr_private.
  - intros [[|] n] C b t; cbn in C; [discriminate|]. cbn. lra.
Qed.

(* Renyi for groups: three laws, 1/2, 1/3, 1/6. *)
Definition biased (p : Q) (H : 0 <= p <= 1) : law_of.
Proof. refine (Law (fun a => match a with Some true => p | Some false => 1 - p | None => 0 end) _ _); [small|cbn;
  ring]. Defined.

(* Machines that say true with probability 1/2, 1/3, 1/6. *)
Definition half := once (biased (1#2) ltac:(lra)).  Definition third
  := once (biased (1#3) ltac:(lra)).  Definition sixth := once (biased (1#6) ltac:(lra)).

Lemma biased_pure e p p' H H' : 1 <= e -> p <= e * p' -> 1 - p <= e * (1 - p') ->
  pure e (once (biased p H)) (once (biased p' H')).
Proof.
  intros He P P'. apply (pure_adversaries). apply once_private; [assumption|lra|]. intros x y z X Y Z. cbn.
  assert (A := Qmult_le_compat_r _ _ x P (proj1 X)). assert (B := Qmult_le_compat_r _ _ y P' (proj1 Y)). lra.
Qed.

(* The first change. *)
Definition step1 (b : bool) := if b then half else third.

(* The second change. *)
Definition step2 (b : bool) := if b then third else sixth.
Lemma step1_pure : pure_dp (3#2) step1. Proof. intros [|]; apply biased_pure; lra. Qed.
Lemma step2_pure : pure_dp 2 step2. Proof. intros [|]; apply biased_pure; lra. Qed.

(* Two changes: Renyi privacy of order 2 at 5, from orders 4 and 3 of one change each. *)
Theorem group_renyi : renyi_close 0 5 half sixth.
Proof.
  apply (renyi_two 0 (rate 2 (3#2)) (rate 1 2) 5 half third sixth); [| |lra|vm_compute; discriminate].
  - exact (pure_renyi 2 (3#2) step1 ltac:(lra) step1_pure true).
  - exact (pure_renyi 1 2 step2 ltac:(lra) step2_pure true).
Qed.
