(* The reduction to randomised response for pure losses ([HSV25] Thm 12.4; [HST+23] Thm 1.19): a rule that is valid
   for randomised responses, launched adaptively, is valid for interactive mechanisms, interleaved. *)
From Odometry Require Export Response Odometer.
From Coq Require Import Lia Setoid.

Section Game.
Context {Name : Type} (loss : Name -> Q).

(* An experimenter launches randomised responses, each of a loss chosen by earlier responses, and finally accepts or
   not. *)
Inductive experiment := End (x : bool) | Respond (n : Name) (k : bool -> experiment).

(* The probability that it accepts, when the secret is b. *)
Fixpoint wins (b : bool) (g : experiment) : Q :=
  match g with
  | End x => if x then 1 else 0
  | Respond n k => odds (loss n) b true * wins b (k true) + odds (loss n) b false * wins b (k false)
  end.

(* All launches of the experiment keep the rule. *)
Fixpoint keeps (rule : list Name -> bool) (l : list Name) (g : experiment) : Prop :=
  match g with End _ => True | Respond n k => rule (l ++ [n]) = true /\ forall x, keeps rule (l ++ [n]) (k x) end.

(* The rule is valid at (E, D) for adaptively launched randomised responses. *)
Definition responses (rule : list Name -> bool) (E D : Q) : Prop :=
  forall g, keeps rule [] g -> forall b, wins b g <= E * wins (negb b) g + D.
End Game.
Arguments experiment : clear implicits.

Section Reduction.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Notation answers := (every Ans).
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Context (loss : Name -> Q) (mech_private : forall n, pure_dp (loss n) (mech n)).
Notation ledger := (@ledger Qry Ans Name).
Notation transcript := (@transcript Qry Ans).

Notation wins := (wins loss).

(* The parts of the mechanism of name n (measures/Response.v). *)
Definition piece (n : Name) : bool -> transcript -> Q := part (loss n) (mech n).

Lemma piece_lawful n c : lawful (piece n c).
Proof. now apply part_lawful. Qed.

(* The weight of an account where the first children follow the part of a known response, and so do not see the
   secret, and the others see it. *)
Fixpoint hybrid (b : bool) (c : list bool) (acc : ledger) : Q :=
  match acc, c with
  | [], _ => 1
  | (n, h) :: acc, [] => pr (mech n b) h * hybrid b [] acc
  | (n, h) :: acc, x :: c => piece n x h * hybrid b c acc
  end.

Lemma hybrid_nil b acc : hybrid b [] acc == weight mech b acc.
Proof. unfold weight. induction acc as [|[n h] acc IH]; cbn; [reflexivity|]. now rewrite IH. Qed.

Lemma hybrid_pos b acc : forall c, 0 <= hybrid b c acc.
Proof.
  induction acc as [|[n h] acc IH]; intros [|x c]; cbn; try lra; (apply Qmult_le_0_compat; [|apply IH]);
    [apply pr_pos|].
  apply (lawful_pos _ (piece_lawful n x)).
Qed.

Lemma hybrid_blind b b' acc : forall c, (length acc <= length c)%nat -> hybrid b c acc = hybrid b' c acc.
Proof.
  induction acc as [|[n h] acc IH]; intros [|x c] L; cbn in *; try easy; try lia. rewrite (IH c); [reflexivity|lia].
Qed.

(* One more response. *)
Lemma hybrid_split b n c : forall acc, nth_error (map fst acc) (length c) = Some n ->
  hybrid b c acc == odds (loss n) b true * hybrid b (c ++ [true]) acc + odds (loss n) b false * hybrid b
  (c ++ [false]) acc.
Proof.
  induction c as [|x c IH]; intros [|[m h] acc] L; cbn in L; try discriminate; cbn [hybrid app].
  - injection L as ->. rewrite (two_parts (loss n) (mech n) (mech_private n) b h). fold (piece n).
    assert (G := e_ge_1 (loss n) (mech n) (mech_private n)). unfold odds. destruct b; cbn [Bool.eqb negb]; field; lra.
  - rewrite (IH acc L). ring.
Qed.

Lemma hybrid_launch b n acc : forall c x, length c = length acc ->
  hybrid b (c ++ [x]) (acc ++ [(n, [])]) == hybrid b c acc.
Proof.
  induction acc as [|[m h] acc IH]; intros [|y c] x L; cbn in L; try discriminate; cbn [hybrid app].
  - rewrite (lawful_nil _ (piece_lawful n x)). ring.
  - rewrite IH by lia. reflexivity.
Qed.

(* f of the account, or 0 if there is none. *)
Definition or_0 (f : ledger -> Q) (o : option ledger) : Q := match o with Some acc => f acc | None => 0 end.

Lemma hybrid_ask b q acc : forall c j, (length acc <= length c)%nat -> (j < length acc)%nat ->
  sum (fun a => or_0 (hybrid b c) (extend j (q, a) acc)) answers == hybrid b c acc.
Proof.
  induction acc as [|[n h] acc IH]; intros [|x c] [|j] L J; cbn in L, J; try lia; cbn [extend hybrid].
  - cbn [or_0 hybrid]. rewrite <- (lawful_total _ (piece_lawful n x) h q), Qmult_comm, <- sum_scale.
    apply sum_ext; intros a _. ring.
  - rewrite <- (IH c j) by lia. rewrite <- sum_scale. apply sum_ext; intros a _. destruct extend; cbn; ring.
Qed.

Section Admit.
Context (admit : list Name -> Name -> bool).
Notation account := (account admit decode yes no invalid).
Notation log := (log admit decode yes no invalid).

Lemma grows t : forall acc acc', account acc t = Some acc' -> exists r, map fst acc' = map fst acc ++ r.
Proof.
  induction t as [|[q a] t IH]; intros acc acc' H; cbn [Filter.account] in H; [injection H as ->; exists [];
    now rewrite app_nil_r|].
  destruct (log acc (q, a)) as [acc1|] eqn:L; [|discriminate]. apply IH in H. destruct H as [r ->].
  enough (exists r, map fst acc1 = map fst acc ++ r) as [r' ->] by (exists (r' ++ r); symmetry; apply app_assoc).
  unfold Filter.log, when in L. destruct (decode q) as [n|j q'|].
  - destruct admit; destruct eqA; try discriminate; injection L as <-; [exists [n]; now rewrite map_app|exists [];
      now rewrite app_nil_r].
  - exists []. rewrite app_nil_r. destruct extend eqn:X; [injection L as <-; now apply extend_names in X|].
    destruct eqA; [|discriminate]. now injection L as <-.
  - exists []. rewrite app_nil_r. destruct eqA; [|discriminate]. now injection L as <-.
Qed.

(* The probability that the view is in T from here, if the probability of an account is f. *)
Definition future (f : ledger -> Q) (acc : ledger) (A : adversary) (T : transcript -> bool) : Q :=
  sum (fun t => or_0 f (account acc t)) (List.filter T (views A)).

Lemma future_Ask f acc q k T : future f acc (Ask q k) T
  == sum (fun a => or_0 (fun acc => future f acc (k a) (fun t => T ((q, a) :: t))) (log acc (q, a))) answers.
Proof.
  unfold future. rewrite sum_filter. etransitivity; [apply views_Ask|]. apply sum_ext; intros a _.
  destruct (log acc (q, a)) as [acc1|] eqn:L; cbn [or_0].
  - rewrite sum_filter. apply sum_ext; intros t _. cbn [Filter.account]. now rewrite L.
  - rewrite <- (sum_zero (views (k a))). apply sum_ext; intros t _. cbn [Filter.account]. rewrite L. now destruct (T _).
Qed.

Lemma future_only f acc q k T a acc1 : (forall a', log acc (q, a') = when a' a acc1) ->
  future f acc (Ask q k) T == future f acc1 (k a) (fun t => T ((q, a) :: t)).
Proof.
  intros H. rewrite future_Ask. rewrite (sum_ext _ (fun a' => if eqA a a' then future f acc1 (k a') (fun t => T ((q,
    a') :: t)) else 0)).
  - now rewrite select.
  - intros a' _. rewrite H. unfold when. now destruct eqA.
Qed.

Lemma future_ext f f' n i acc A T : nth_error (map fst acc) i = Some n ->
  (forall acc', nth_error (map fst acc') i = Some n -> f acc' == f' acc') ->
  future f acc A T == future f' acc A T.
Proof.
  intros N H. apply sum_ext; intros t _. destruct (account acc t) as [acc'|] eqn:E; cbn [or_0]; [|reflexivity]. apply H.
  destruct (grows t acc acc' E) as [r ->]. rewrite nth_error_app1; [assumption|]. apply nth_error_Some. congruence.
Qed.

Lemma future_linear f f' x y acc A T : future (fun acc => x * f acc + y * f' acc) acc A T
  == x * future f acc A T + y * future f' acc A T.
Proof. unfold future. rewrite <- !sum_scale, <- sum_plus. apply sum_ext; intros t _.
  destruct account; cbn [or_0]; ring. Qed.

Lemma future_split b n c acc A T : nth_error (map fst acc) (length c) = Some n ->
  future (hybrid b c) acc A T == odds (loss n) b true * future (hybrid b (c ++ [true])) acc A T + odds (loss n)
  b false * future (hybrid b (c ++ [false])) acc A T.
Proof. intros H. rewrite <- future_linear. apply (future_ext _ _ n (length c)); [assumption|]. intros acc' H'.
  now apply hybrid_split. Qed.

(* Some answer is at least as good for the adversary as the average. *)
Lemma best_answer {G : Type} (g0 : G) (K : G -> Prop) (v : G -> Q) (w Y : Ans -> Q) l : K g0 -> (forall a, 0 <= w a) ->
  (forall a, exists g, K g /\ Y a <= w a * v g) -> exists g, K g /\ sum Y l <= sum w l * v g.
Proof.
  intros K0 W H. induction l as [|a l [g [Kg IH]]]; [exists g0; split; [assumption|cbn; lra]|].
  assert (P : 0 <= sum w l) by (apply sum_pos; auto). destruct (H a) as [g' [Kg' Hg]]. cbn [sum]. assert (Wa := W a).
  destruct (Qlt_le_dec (v g) (v g')) as [L|L]; [exists g'|exists g]; (split; [assumption|]).
  - assert (sum w l * v g <= sum w l * v g') by (rewrite !(Qmult_comm (sum w l)); apply Qmult_le_compat_r; lra). lra.
  - assert (w a * v g' <= w a * v g) by (rewrite !(Qmult_comm (w a)); now apply Qmult_le_compat_r). lra.
Qed.

(* Some experiment gains at least as much as the adversary A: winning counts x for the secret b, and costs y for the
   other. *)
Section Steps.
Context (rule : list Name -> bool) (admit_rule : forall l n, admit l n = true -> rule (l ++ [n]) = true) (b : bool).

(* The claim of the simulation for the adversary A, when the responses c are known. *)
Definition matched (A : adversary) (T : transcript -> bool) (c : list bool) (acc : ledger) (x y : Q) : Prop :=
  exists g, keeps rule (map fst acc) g /\
    x * future (hybrid b c) acc A T - y * future (hybrid (negb b) c) acc A T
      <= hybrid b c acc * (x * wins b g - y * wins (negb b) g).

(* The claim for everything that can follow a question. *)
Definition matched_after (k : Ans -> adversary) : Prop :=
  forall a T c acc x y, length c = length acc -> matched (k a) T c acc x y.

(* Step 1: the answer is certain, and the account stays as it was. *)
Lemma matched_same q k T c acc x y a : matched_after k -> length c = length acc ->
  (forall a', log acc (q, a') = when a' a acc) -> matched (Ask q k) T c acc x y.
Proof.
  intros IH L H. destruct (IH a (fun t => T ((q, a) :: t)) c acc x y L) as [g [K G]].
  exists g. split; [assumption|]. now rewrite !(future_only _ acc q k T a acc H).
Qed.

(* Step 2: a launch is admitted. The experiment launches a response, and goes on as after it. *)
Lemma matched_launch n q k T c acc x y : matched_after k -> length c = length acc ->
  decode q = Launch n -> admit (map fst acc) n = true -> matched (Ask q k) T c acc x y.
Proof.
  intros IH L De Ad. set (acc1 := acc ++ [(n, [])]). set (T' := fun t => T ((q, yes) :: t)).
  assert (E : map fst acc1 = map fst acc ++ [n]) by (unfold acc1; now rewrite map_app).
  assert (H : forall a', log acc (q, a') = when a' yes acc1) by (intros a'; unfold Filter.log; now rewrite De, Ad).
  assert (N : nth_error (map fst acc1) (length c) = Some n).
  { rewrite E, nth_error_app2 by (rewrite map_length; lia). now rewrite map_length, L, PeanoNat.Nat.sub_diag. }
  assert (G : forall r, exists g, keeps rule (map fst acc ++ [n]) g /\
    x * odds (loss n) b r * future (hybrid b (c ++ [r])) acc1 (k yes) T'
      - y * odds (loss n) (negb b) r * future (hybrid (negb b) (c ++ [r])) acc1 (k yes) T'
    <= hybrid b c acc * (x * odds (loss n) b r * wins b g - y * odds (loss n) (negb b) r * wins (negb b) g)).
  { intros r.
    destruct (IH yes T' (c ++ [r]) acc1 (x * odds (loss n) b r) (y * odds (loss n) (negb b) r)) as [g [K G]].
    { unfold acc1. now rewrite !app_length, L. }
    exists g. rewrite <- E. split; [assumption|]. unfold acc1 in G at 3.
    now rewrite (hybrid_launch b n acc c r L) in G. }
  destruct (G true) as [g [K G1]], (G false) as [g' [K' G2]]. exists (Respond n (fun r => if r then g else g')).
  split; [split; [now apply admit_rule|intros [|]; assumption]|].
  assert (Go : forall b', future (hybrid b' c) acc (Ask q k) T == future (hybrid b' c) acc1 (k yes) T').
  { intros b'. exact (future_only (hybrid b' c) acc q k T yes acc1 H). }
  rewrite !Go, (future_split b n c acc1 (k yes) T' N), (future_split (negb b) n c acc1 (k yes) T' N).
  cbn [Reduction.wins]. lra.
Qed.

(* Step 3: a child is asked. The experiment goes on as after the answer that is best for it. *)
Lemma matched_ask j q' q k T c acc x y : matched_after k -> length c = length acc ->
  decode q = To j q' -> (j < length acc)%nat -> matched (Ask q k) T c acc x y.
Proof.
  intros IH L De Hj. pose (w a := or_0 (hybrid b c) (extend j (q', a) acc)).
  pose (F b a := or_0 (fun acc => future (hybrid b c) acc (k a) (fun t => T ((q, a) :: t))) (log acc (q, a))).
  destruct (best_answer (End false) (keeps rule (map fst acc)) (fun g => x * wins b g - y * wins (negb b) g) w
    (fun a => x * F b a + (- y) * F (negb b) a) answers) as [g [K G]].
  - exact I.
  - intros a. unfold w. destruct extend; cbn; [apply hybrid_pos|lra].
  - intros a. unfold w, F, Filter.log. rewrite De. apply (extend_some (q', a)) in Hj. destruct Hj as [acc1 X].
    rewrite X. cbn [or_0]. assert (E := extend_names _ _ _ _ X).
    destruct (IH a (fun t => T ((q, a) :: t)) c acc1 x y) as [g [K G]].
    { now rewrite L, <- (map_length fst acc), <- (map_length fst acc1), E. }
    rewrite E in K. exists g. split; [assumption|]. lra.
  - exists g. split; [assumption|]. rewrite sum_plus, !sum_scale in G. unfold F, w in G.
    rewrite <- !future_Ask in G. rewrite hybrid_ask in G by lia. lra.
Qed.

(* An adversary that faces the machines gains no more than some experiment with responses that keeps the rule: once
   the response of a child is known, its answers do not depend on the secret. *)
Lemma simulated A : forall T c acc x y, length c = length acc -> matched A T c acc x y.
Proof.
  induction A as [|q k IH]; intros T c acc x y L.
  - exists (End (T [])). split; [exact I|]. unfold future. cbn [Machine.views List.filter].
    destruct (T []); cbn [sum Filter.account or_0 Reduction.wins]; rewrite ?(hybrid_blind (negb b) b acc c) by lia; lra.
  - assert (Same : forall a, (forall a', log acc (q, a') = when a' a acc) -> matched (Ask q k) T c acc x y).
    { intros a. now apply matched_same. }
    destruct (decode q) as [n|j q'|] eqn:De.
    + destruct (admit (map fst acc) n) eqn:Ad; [now apply (matched_launch n)|].
      apply (Same no). intros a'. unfold Filter.log. now rewrite De, Ad.
    + destruct (Nat.ltb_spec j (length acc)) as [Hj|Hj]; [now apply (matched_ask j q')|].
      apply (Same invalid). intros a'. unfold Filter.log. rewrite De.
      destruct (extend j (q', a') acc) eqn:X; [|reflexivity].
      exfalso. assert (j < length acc)%nat by (apply (extend_some (q', a')); eauto). lia.
    + apply (Same invalid). intros a'. unfold Filter.log. now rewrite De.
Qed.
End Steps.
End Admit.

(* The reduction to randomised response, pure losses ([HSV25] Thm 12.4; [HST+23] Thm 1.19): a rule that is valid for
   adaptively launched randomised responses is valid for all pure interactive mechanisms with these losses. *)
Theorem reduction rule E D : responses loss rule E D -> valid mech decode yes no invalid rule E D.
Proof.
  intros V admit Hadmit b A T.
  destruct (simulated admit rule Hadmit b A T [] [] 1 E eq_refl) as [g [K G]]. specialize (V g K b). cbn [hybrid] in G.
  assert (S : forall b, seen (filter_machine mech admit decode yes no invalid b) A T
    == future admit (hybrid b []) [] A T).
  { intros b'. unfold seen, future. apply sum_ext; intros t _. rewrite law.
    destruct (account _ _ _ _ _ [] t); cbn [or_0]; [|reflexivity]. now rewrite hybrid_nil. }
  rewrite !S. lra.
Qed.
End Reduction.

(* The responses themselves, as machines: they answer once. Messages: a name launches, a number asks. *)
Section Responder.
Context {Name : Type} (loss : Name -> Q) (loss_ok : forall n, 1 <= loss n).
Notation message := (Name + nat)%type.

(* A response once; afterwards "false". *)
Definition responder_step (e : Q) (b asked : bool) : list (Q * (bool * bool)) :=
  if asked then [(1, (false, true))] else [(odds e b true, (true, true)); (odds e b false, (false, true))].

(* Randomised response as a machine. *)
Definition responder (n : Name) (b : bool) : machine message bits.
Proof.
  refine (Machine bool false (fun s _ => responder_step (loss n) b s) _ _).
  - intros s _ o H. destruct s, H as [<-|H]; cbn; try lra; [easy|apply odds_ok, loss_ok|]. destruct H as [<-|[]].
    apply odds_ok, loss_ok.
  - intros s _. destruct s; cbn; [reflexivity|]. rewrite Qplus_0_r. apply (odds_one _ b true), loss_ok.
Defined.

(* The probability of a transcript after the response was given. *)
Definition later (n : Name) (b : bool) (t : list (message * bool)) : Q := expect (responder n b) true t (fun _ => 1).

Lemma later_same n b b' t : later n b t == later n b' t.
Proof.
  unfold later. induction t as [|[q a] t IH]; [reflexivity|]. cbn [expect responder step responder_step sum fst snd].
  destruct (same false a); [now rewrite IH|reflexivity].
Qed.

Lemma responder_first n b q a t : pr (responder n b) ((q, a) :: t)
  == (if same true a then odds (loss n) b true * later n b t else 0)
  + (if same false a then odds (loss n) b false * later n b t else 0).
Proof.
  unfold pr. change (start (responder n b)) with false. cbn [expect].
  change (step (responder n b) false q) with (responder_step (loss n) b false).
  cbn [responder_step sum fst snd]. rewrite Qplus_0_r. reflexivity.
Qed.

(* Randomised response with odds e : 1 is pure with loss e. *)
Theorem responder_pure n : pure_dp (loss n) (responder n).
Proof.
  assert (L := loss_ok n). intros b [|[q a] t]; [unfold pr; cbn; lra|]. rewrite !responder_first.
  assert (S := later_same n (negb b) b t).
  assert (P : 0 <= later n b t) by (apply expect_pos; intros; lra).
  assert (M := fun x => Qmult_le_compat_r _ _ _ (odds_pure (loss n) b x L) P). assert (M1 := M true).
  assert (M2 := M false).
  destruct (same true a), (same false a); rewrite ?S; lra.
Qed.

(* Messages to a filter of responses: a name launches, a number asks. *)
Definition launch_or_ask (q : message) : command Name message
  := match q with inl n => Launch n | inr j => To j (inr O) end.
Notation responders admit := (filter_machine responder admit launch_or_ask true false false).

(* The player that carries out an experiment against the filter of responses. *)
Fixpoint asking (g : experiment Name) (j : nat) : player message bool :=
  match g with End x => Halt x | Respond n k => Say (inl n) (fun _ => Say (inr j) (fun a => asking (k a) (S j))) end.

Lemma ask_last b n s q cs : ask responder false b (length cs) q (cs ++ [existT _ n s]) = map
  (fun o => (fst o, (fst (snd o), cs ++ [existT _ n (snd (snd o))]))) (step (responder n b) s q).
Proof. induction cs as [|[m s'] cs IH]; [reflexivity|]. cbn [length app ask]. rewrite IH, map_map. reflexivity. Qed.

Lemma asking_wins rule b g : forall cs, keeps rule (names responder b cs) g ->
  play (responders (by_rule rule) b) (asking g (length cs)) cs == wins loss b g.
Proof.
  induction g as [x|n k IH]; intros cs K; [reflexivity|]. destruct K as [R K].
  assert (F1 : step (responders (by_rule rule) b) cs (inl n) = [(1, (true,
    cs ++ [existT (fun n => state (responder n b)) n false]))]).
  { change (fstep responder (by_rule rule) launch_or_ask true false false b cs (inl n) = [(1, (true,
      cs ++ [existT (fun n => state (responder n b)) n false]))]).
    unfold fstep. cbn [launch_or_ask]. unfold by_rule. now rewrite R. }
  assert (F2 := ask_last b n false (inr O) cs : step (responders (by_rule rule) b) (cs ++ [existT (fun n => state
    (responder n b)) n false]) (inr (length cs)) = _).
  cbn [asking play]. rewrite F1. cbn [sum fst snd]. rewrite F2.
  change (step (responder n b) false (inr O)) with (responder_step (loss n) b false).
  cbn [responder_step map sum fst snd wins].
  assert (N : forall x s, play (responders (by_rule rule) b) (asking (k x) (S (length cs))) (cs ++ [existT _ n s])
    == wins loss b (k x)).
  { intros x s. assert (L : S (length cs) = length (cs ++ [existT (fun n => state (responder n b)) n s]))
      by (rewrite app_length; cbn; lia).
    rewrite L. apply IH. unfold names. rewrite map_app. apply K. }
  rewrite !N. ring.
Qed.

(* The rule is valid for experiments with responses iff it is valid for the filter of the response machines. *)
Theorem responders_decide rule E D : responses loss rule E D
  <-> valid responder launch_or_ask true false false rule E D.
Proof.
  split; [apply reduction; apply responder_pure|]. intros V g K b.
  assert (H := proj1 (players E D _ _) (V (by_rule rule) (fun _ _ H => H) b) (asking g 0)).
  assert (F : forall j, fair (asking g j)) by (clear; induction g as [|n k IH]; cbn; auto). specialize (H (F O)).
  assert (W := fun b => asking_wins rule b g [] K). cbn [length] in W. cbn [start filter_machine] in H.
  now rewrite !W in H.
Qed.
End Responder.
