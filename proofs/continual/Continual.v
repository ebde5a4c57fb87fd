(* Continual mechanisms ([HSV25]). The data come in as messages. An adversary sends pairs of messages (r0, r1); a
   plain question is (q, q). The identifier passes on r_b; the verifier lets a pair pass while a function of the pairs
   so far allows it.

   How the definitions compare to the paper. Identifier, verifier, privacy with respect to f (Def 3.1-3.7) and the
   composition with creation (Def 4.1, 4.5, 12.2) are the paper's, with these differences: answers are finitely many;
   probabilities and e^epsilon are rational; an adversary stops after finitely many messages (a finite tree) and
   tosses finite coins; "halt" is an answer that is repeated for ever. A question to a mechanism that does not exist
   is answered, not halted; no suitable sequence contains one. That questions are in the query space is a matter of
   types here. epsilon = 0 is allowed. The table in docs/proofs.md lists what is proved of the paper, theorem by
   theorem, and what is not. *)
From Odometry Require Export Convex Advanced.
From Coq Require Import Lia Setoid.

Section Continual.
Context {Qry : Type} {Ans : alphabet}.
Context (halt : Ans).
Notation message := (Qry * Qry)%type.

(* The side of a pair of messages that the bit chooses. *)
Definition side (b : bool) (w : message) : Qry := if b then snd w else fst w.

(* The identifier I(b) ([HSV25] Def 3.1–3.7): it passes the b-th message of each pair on to the mechanism. *)
Definition identifier (b : bool) : @middle message Ans Qry Ans.
Proof.
  refine (Middle unit tt (fun _ w => Call (side b w) (fun a => Answer a tt)) _). intros _ w. cbn. auto.
Defined.

(* The verifier, for the function f of the messages so far: it passes a message on, or answers "halt". Afterwards it
   halts for ever (the paper's, again = false), or goes on as if nothing had been sent (again = true). *)
Section Verifier.
Context (again : bool) (f : list message -> bool).

(* The verifier's plan: pass a pair on if the verification function f allows the sequence so far; else answer "halt",
   and halt for ever (again = false) or go on as if the pair had not been sent (again = true). *)
Definition verify (s : option (list message)) (w : message) : @plan Ans message Ans (option (list message)) :=
  match s with
  | None => Answer halt None
  | Some h => if f (h ++ [w]) then Call w (fun a => Answer a (Some (h ++ [w]))) else Answer halt (if again
    then Some h else None)
  end.

Lemma verify_fair s w : fair_plan (verify s w).
Proof. destruct s as [h|]; cbn; [destruct f; cbn; auto|exact I]. Qed.

(* The verifier V[f] ([HSV25] Def 3.1–3.7), as a person in the middle. *)
Definition verifier : @middle message Ans message Ans := Middle (option (list message)) (Some []) verify verify_fair.
End Verifier.

(* V[f] o I(b) o M: the mechanism M behind the identifier behind the verifier. *)
Definition wrapped (again : bool) (f : list message -> bool) (m : machine Qry Ans) (b : bool) : machine message Ans :=
  behind (verifier again f) (behind (identifier b) m).

(* M is (e, d)-private with respect to f ([HSV25] Def 3.7): the machines of b = 0 and b = 1 behind verifier and
   identifier are (e, d)-private. *)
Definition continual_private (f : list message ->
  bool) (e d : Q) (m : machine Qry Ans) : Prop := approx_dp e d (wrapped false f m).

(* The player sends only pairs that f allows, after the history h. *)
Fixpoint legal (f : list message -> bool) (h : list message) (P : player message Ans) : Prop :=
  match P with
  | Halt _ => True
  | Toss w k => forall i, legal f h (k i)
  | Say w k => f (h ++ [w]) = true /\ forall a, legal f (h ++ [w]) (k a)
  end.

(* The left-or-right game without a verifier: the probability that the player accepts when M gets side b of its pairs.
   *)
Definition game (m : machine Qry Ans) (P : player message Ans) (b : bool) : Q
  := play m (through (identifier b) P tt) (start m).

Lemma verified_legal again f P : forall s, legal f (match s
  with Some h => h | None => [] end) (through (verifier again f) P s) \/ s = None.
Proof.
  induction P as [x|w k IH|w k IH]; intros [h|]; try (now right); left; cbn [through].
  - exact I.
  - intros i. destruct (IH i (Some h)) as [H|H]; [exact H|discriminate].
  - cbn [act verifier verify]. destruct (f (h ++ [w])) eqn:E.
    + cbn [graft]. split; [assumption|]. intros a. destruct (IH a (Some (h ++ [w]))) as [H|H]; [exact H|discriminate].
    + cbn [graft]. destruct again.
      * destruct (IH halt (Some h)) as [H|H]; [exact H|discriminate].
      * enough (N : forall P h, legal f h (through (verifier false f) P None)) by apply N.
        clear. intros P; induction P as [x|w k IH|w k IH]; intros h; cbn; auto.
Qed.

Lemma legal_same again f m P : forall h, legal f h P -> forall s,
  play m (through (verifier again f) P (Some h)) s == play m P s.
Proof.
  induction P as [x|w k IH|w k IH]; intros h L s; cbn [through].
  - reflexivity.
  - cbn [play]. apply weigh_ext. intros i. now apply IH.
  - destruct L as [E L]. cbn [act verifier verify]. rewrite E. cbn [graft play]. apply sum_ext; intros o _.
    now rewrite IH.
Qed.

Lemma play_wrapped again f m b P : play (wrapped again f m b) P (start (wrapped again f m b))
  == game m (through (verifier again f) P (Some [])) b.
Proof. unfold wrapped, game. cbn [start behind]. rewrite play_through. cbn [start behind]. now rewrite play_through.
  Qed.

(* Privacy with respect to f, with either verifier, is the same as the bound (e, d) in the game for all players that
   send only pairs that f allows. *)
Theorem continual_game again f e d m : approx_dp e d (wrapped again f m) <->
  forall P, fair P -> legal f [] P -> forall b, game m P b <= e * game m P (negb b) + d.
Proof.
  split.
  - intros H P F L b. assert (K := proj1 (players _ _ _ _) (H b) P F).
    rewrite !play_wrapped in K. unfold game in *. rewrite <- !play_through in K |- *.
    cbn [start behind] in K. rewrite !(legal_same again f _ P [] L) in K. exact K.
  - intros H b. apply players; try assumption. intros P F. rewrite !play_wrapped. apply H; [now apply through_fair|].
    destruct (verified_legal again f P (Some [])) as [L|L]; [exact L|discriminate].
Qed.

(* A verifier that refuses an invalid pair and goes on is as good as one that halts, for (e, d). *)
Theorem refusing f e d m : approx_dp e d (wrapped true f m) <-> continual_private f e d m.
Proof. unfold continual_private. now rewrite !continual_game. Qed.

(* The same for pure losses. *)
Theorem refusing_pure f e m : pure_dp e (wrapped true f m) <-> pure_dp e (wrapped false f m).
Proof.
  assert (H : forall g, pure_dp e (wrapped g f m) <-> approx_dp e 0 (wrapped g f m)).
  { intros g. split; intros H b; [apply pure_adversaries; auto|]. apply (pure_adversaries); auto. }
  rewrite !H. apply refusing.
Qed.

(* A function that allows less asks for less (Observation 8.9). *)
Lemma legal_more f f' : (forall h, f' h = true -> f h = true) -> forall P h, legal f' h P -> legal f h P.
Proof.
  intros Hf P. induction P as [x|w k IH|w k IH]; intros h L; cbn in *; [exact I|intros i; now apply IH|].
  destruct L as [E L]. split; [auto|]. intros a. now apply IH.
Qed.

(* A verification function that allows less asks for less. *)
Theorem fewer f f' e d m : (forall h, f' h = true -> f h = true) -> continual_private f e d m ->
  continual_private f' e d m.
Proof.
  intros Hf H. apply continual_game. intros P F L. apply (proj1 (continual_game false f e d m) H P F).
  now apply (legal_more f f').
Qed.

(* The same for laws, hence for every measure: machines that no player can tell apart have the same law; and the
   verifier that goes on is post-processing of the one that halts. *)
Lemma same_play {Q'} (m m' : machine Q' Ans) : (forall P, fair P -> play m P (start m) == play m' P (start m')) ->
  forall t, pr m t == pr m' t.
Proof.
  intros H t. specialize (H (as_player (script t) (answered t)) (as_player_fair _ _)).
  rewrite !(play_seen) in H by assumption. unfold seen in H. now rewrite !script_only in H.
Qed.

Lemma refusing_law f m b t : pr (wrapped true f m b) t == pr (behind (verifier true f) (wrapped false f m b)) t.
Proof.
  apply same_play. intros P F. set (P' := through (verifier true f) P (Some [])).
  transitivity (game m P' b); [apply play_wrapped|].
  transitivity (play (wrapped false f m b) P' (start (wrapped false f m b)));
    [|symmetry; apply (play_through (verifier true f) (wrapped false f m b) P (Some []) (start (wrapped false f m b)))].
  transitivity (game m (through (verifier false f) P' (Some [])) b); [|symmetry; apply play_wrapped].
  unfold game. rewrite <- !(play_through (identifier b) m). symmetry. apply legal_same.
  destruct (verified_legal true f P (Some [])) as [L|L]; [exact L|discriminate].
Qed.

Lemma renyi_ext {Q'} k r (m1 m1' m2 m2' : machine Q' Ans) : (forall t, pr m1 t == pr m2 t) ->
  (forall t, pr m1' t == pr m2' t) ->
  renyi_close k r m1 m1' -> renyi_close k r m2 m2'.
Proof.
  intros E E' [H Z]. split.
  - intros A. cbn beta. eapply Qle_trans; [|exact (H A)]. apply Qle_lteq; right. apply sum_ext; intros t _.
    apply renyi_functional; symmetry; [apply E|apply E'].
  - intros t. rewrite <- E, <- E'. apply Z.
Qed.

(* Renyi privacy of order k + 2 with respect to f ([HSV25] Def 13.3, integer orders). *)
Definition continual_renyi (k : nat) (f : list message ->
  bool) (r : Q) (m : machine Qry Ans) : Prop := renyi_dp k r (wrapped false f m).

Lemma refusing_renyi k f r m : continual_renyi k f r m -> renyi_dp k r (wrapped true f m).
Proof.
  intros H b. apply (renyi_ext k r (behind (verifier true f) (wrapped false f m b)) (behind (verifier true f)
    (wrapped false f m (negb b))));
    [intros t; symmetry; apply refusing_law|intros t; symmetry; apply refusing_law|].
  apply (postprocess_renyi); try assumption. apply H.
Qed.

(* Concurrent composition. Names of continual mechanisms, each with its verification function and its claim. *)
Section Concurrent.
Context {Name : Type} (eqName : forall a b : Name, {a = b} + {a <> b}).
Context (cm : Name -> machine Qry Ans) (f : Name -> list message -> bool).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).

(* The extended concurrent composition ([HSV25] Def 4.1): one machine that creates the mechanisms it is told to
   create, and passes questions on to them. *)
Definition ext_con_comp : machine Qry Ans
  := filter_machine (fun n _ => cm n) (fun _ _ => true) decode yes no invalid true.

(* A pair of messages as one command: the same creation twice, or two questions to the same mechanism. All other pairs
   are invalid. *)
Definition decode2 (w : message) : command Name message :=
  match decode (fst w), decode (snd w) with
  | Launch n, Launch n' => if eqName n n' then Launch n else Other
  | To j q, To j' q' => if PeanoNat.Nat.eq_dec j j' then To j (q, q') else Other
  | _, _ => Other
  end.

Lemma decode2_side b w : match decode2 w with
  | Launch n => decode (side b w) = Launch n | To j w' => decode (side b w) = To j (side b w') | Other => True end.
Proof.
  unfold decode2. destruct w as [q q']. cbn. destruct (decode q) eqn:E, (decode q') eqn:E'; try exact I.
  - destruct eqName as [<-|]; [destruct b; cbn; congruence|exact I].
  - destruct PeanoNat.Nat.eq_dec as [<-|]; [destruct b; cbn; congruence|exact I].
Qed.

(* Def 4.5 and 12.2: which sequences of pairs are suitable, and within what is admitted. For each mechanism that was
   created, in order: its name, and its messages so far. *)
Context (admit : list Name -> Name -> bool).

(* A pair for mechanism j, if its verification function allows it; None if not. *)
Fixpoint deliver (j : nat) (w : message) (acc : list (Name * list message)) : option (list (Name * list message)) :=
  match acc, j with
  | [], _ => None
  | (n, h) :: acc, O => if f n (h ++ [w]) then Some ((n, h ++ [w]) :: acc) else None
  | c :: acc, S j => option_map (cons c) (deliver j w acc)
  end.

(* One more pair of messages: the new list of mechanisms with their messages; None if the pair is not suitable or not
   admitted. *)
Definition check (acc : list (Name * list message)) (w : message) : option (list (Name * list message)) :=
  match decode2 w with
  | Launch n => if admit (map fst acc) n then Some (acc ++ [(n, [])]) else None
  | To j w => deliver j w acc
  | Other => None
  end.

(* The same for a sequence of pairs. *)
Fixpoint checks (acc : list (Name * list message)) (h : list message) : option (list (Name * list message)) :=
  match h with [] => Some acc | w :: h => match check acc w with Some acc => checks acc h | None => None end end.

(* The sequence of pairs is suitable ([HSV25] Def 4.5, 12.2): creations are identical on both sides and admitted,
   questions go to the same existing mechanism, and each mechanism's verification function allows its pairs. *)
Definition suitable (h : list message) : bool := if checks [] h then true else false.

Lemma checks_snoc h w : forall acc, checks acc (h ++ [w]) = match checks acc h
  with Some acc => check acc w | None => None end.
Proof.
  induction h as [|v h IH]; intros acc; cbn; [now destruct (check acc w)|].
  destruct (check acc v); [apply IH|reflexivity].
Qed.

(* The filter of the wrapped mechanisms, and ext_con_comp, go the same way while the messages are suitable. *)
Notation mechs := (fun n => wrapped true (f n) (cm n)).
Notation filter2 := (filter_machine mechs admit decode2 yes no invalid).

(* For each mechanism: its name, its messages and its state. *)
Definition status := list {n : Name & (list message * state (cm n))%type}.

(* The children of the composition, in this status. *)
Definition of_ecc (l : status) : list (child (fun n _ => cm n) true)
  := map (fun x => existT _ (projT1 x) (snd (projT2 x))) l.

(* The checker's list, in this status. *)
Definition of_acc (l : status) : list (Name * list message) := map (fun x => (projT1 x, fst (projT2 x))) l.

(* The children of the filter of wrapped mechanisms, in this status. *)
Definition of_filter (b : bool) (l : status) : list (child mechs b) :=
  map (fun x => existT (fun n => state (wrapped true (f n) (cm n) b)) (projT1 x) (Some (fst (projT2 x)), (tt,
    snd (projT2 x)))) l.

Lemma of_names b l : names mechs b (of_filter b l) = map fst (of_acc l).
Proof. unfold names, of_filter, of_acc. rewrite !map_map. apply map_ext. reflexivity. Qed.

Lemma ask_same b w G G2 : forall l j acc', deliver j w (of_acc l) = Some acc' ->
  (forall a l', of_acc l' = acc' -> G (a, of_ecc l') == G2 (a, of_filter b l')) ->
  sum (fun o => fst o * G (snd o)) (ask (fun n _ => cm n) invalid true j (side b w) (of_ecc l))
  == sum (fun o => fst o * G2 (snd o)) (ask mechs invalid b j w (of_filter b l)).
Proof.
  intros l; revert G G2; induction l as [|[n [h s]] l IH]; intros G G2 [|j] acc' D H; cbn in D; try discriminate.
  - destruct (f n (h ++ [w])) eqn:E; [|discriminate]. injection D as <-.
    cbn [of_ecc of_filter map projT1 projT2 fst snd ask]. rewrite !sum_map. cbn [fst snd].
    change (step (wrapped true (f n) (cm n) b) (Some h, (tt, s)) w) with
      (run (behind (identifier b) (cm n)) (verify true (f n) (Some h) w) (tt, s)).
    cbn [verify]. rewrite E. cbn [run]. rewrite sum_flat_map.
    change (step (behind (identifier b) (cm n)) (tt, s) w) with
      (flat_map (fun o => scale (fst o) (run (cm n) (Answer (Qry := Qry) (Ans
        := Ans) (fst (snd o)) tt) (snd (snd o)))) (step (cm n) s (side b w))).
    rewrite sum_flat_map. apply sum_ext; intros [p [a s']] _. cbn.
    assert (R : forall x y, x == y -> p * x == p * 1 * 1 * y + 0 + 0) by (intros x y ->; ring). apply R.
    exact (H a (existT _ n (h ++ [w], s') :: l) eq_refl).
  - fold (of_acc l) in D. destruct (deliver j w (of_acc l)) as [acc1|] eqn:E; [|discriminate]. injection D as <-.
    cbn [of_ecc of_filter map projT1 projT2 fst snd ask]. rewrite !sum_map. cbn [fst snd].
    apply (IH (fun o => G (fst o, existT _ n s :: snd o)) (fun o => G2 (fst o, existT _ n (Some h, (tt,
      s)) :: snd o)) j acc1 E).
    intros a l' <-. exact (H a (existT _ n (h, s) :: l') eq_refl).
Qed.

Lemma same_game b P : forall h l, checks [] h = Some (of_acc l) -> legal suitable h P ->
  play ext_con_comp (through (identifier b) P tt) (of_ecc l) == play (filter2 b) P (of_filter b l).
Proof.
  induction P as [x|w k IH|w k IH]; intros h l C L; cbn [through].
  - reflexivity.
  - cbn [play]. apply weigh_ext. intros i. now apply (IH i h).
  - destruct L as [E L]. unfold suitable in E. rewrite checks_snoc, C in E.
    destruct (check (of_acc l) w) as [acc'|] eqn:Ck; [|discriminate].
    assert (C' : checks [] (h ++ [w]) = Some acc') by now rewrite checks_snoc, C.
    cbn [act identifier graft play]. cbn [step ext_con_comp filter_machine]. unfold fstep.
    assert (S := decode2_side b w).
    unfold check in Ck. destruct (decode2 w) as [n|j w'|] eqn:De; [| |discriminate]; rewrite S.
    + rewrite of_names. destruct (admit (map fst (of_acc l)) n) eqn:Ad; [|discriminate]. injection Ck as <-. cbn.
      rewrite !Qplus_0_r, !Qmult_1_l.
      assert (K := IH yes (h ++ [w]) (l ++ [existT _ n ([], start (cm n))])).
      unfold of_ecc, of_filter, of_acc in *. rewrite !map_app in K. apply K; [exact C'|apply L].
    + apply (ask_same b w' (fun o => play ext_con_comp (through (identifier b) (k (fst o)) tt) (snd o))
        (fun o => play (filter2 b) (k (fst o)) (snd o)) l j acc' Ck).
      intros a l' <-. apply (IH a (h ++ [w])); [exact C'|apply L].
Qed.

(* Whatever verifier is in front: ext_con_comp is, in law, the filter behind that verifier. *)
Lemma ecc_law again b t : pr (wrapped again suitable ext_con_comp b) t
  == pr (behind (verifier again suitable) (filter2 b)) t.
Proof.
  apply same_play. intros P F. etransitivity; [apply play_wrapped|].
  etransitivity; [|symmetry; apply (play_through (verifier again suitable) (filter2 b) P (Some []) [])].
  apply (same_game b _ [] []); [reflexivity|].
  destruct (verified_legal again suitable P (Some [])) as [L|L]; [exact L|discriminate].
Qed.

(* Concurrent composition of continual mechanisms ([HSV25] Thm 12.4 for ExtConComp): if the rule is valid for the
   wrapped mechanisms, and what is admitted keeps it, the composition is (E, D)-private with respect to "suitable and
   admitted". The mechanisms and their parameters are chosen adaptively. *)
Theorem concurrent_filter rule E D : valid mechs decode2 yes no invalid rule E D ->
  (forall l n, admit l n = true -> rule (l ++ [n]) = true) -> continual_private suitable E D ext_con_comp.
Proof.
  intros V H. apply continual_game. intros P F L b. unfold game.
  assert (S := fun b => same_game b P [] [] eq_refl L). cbn [of_ecc of_filter map] in S.
  cbn [start ext_con_comp filter_machine].
  rewrite (S b), (S (negb b)). apply (proj1 (players E D _ _) (V admit H b) P F).
Qed.
End Concurrent.

(* The Renyi filter for continual mechanisms ([HSV25] Cor 13.8, integer orders). *)
Theorem concurrent_renyi {Name : Type} (eqName : forall a b : Name, {a = b} + {a <> b}) cm f k (loss : Name ->
  Q) decode yes no invalid R :
  (forall n, continual_renyi k (f n) (loss n) (cm n)) -> 1 <= R ->
  continual_renyi k (suitable eqName f decode (by_rule (within loss R))) R (ext_con_comp cm decode yes no invalid).
Proof.
  intros H HR b. pose (V := verifier false (suitable eqName f decode (by_rule (within loss R)))).
  pose (M := filter_machine (fun n => wrapped true (f n) (cm n)) (by_rule (within loss R)) (decode2 eqName decode)
    yes no invalid).
  apply (renyi_ext k R (behind V (M b)) (behind V (M (negb b))));
    [intros t; symmetry; apply ecc_law|intros t; symmetry; apply ecc_law|].
  apply (postprocess_renyi); try assumption.
  apply (renyi_filter k (fun n => wrapped true (f n) (cm n))); [|assumption].
  intros n. apply refusing_renyi, H.
Qed.

(* Advanced composition as a filter for continual mechanisms with pure losses. *)
Theorem concurrent_advanced {Name : Type} (eqName : forall a b : Name, {a = b} + {a <> b}) cm f k (loss : Name -> Q)
  decode yes no invalid R e : (forall n, pure_dp (loss n) (wrapped false (f n) (cm n))) -> 1 <= R -> 0 < e ->
  continual_private (suitable eqName f decode (by_rule (within (fun n => rate k (loss n)) R))) e
  (R * pow (/ e) (S k)) (ext_con_comp cm decode yes no invalid).
Proof.
  intros H HR He. apply concurrent_filter with (rule := within (fun n => rate k (loss n)) R); [|auto].
  apply advanced_valid; try assumption. intros n. now apply refusing_pure.
Qed.

Section Rules.
Context {Name : Type} (eqName : forall a b : Name, {a = b} + {a <> b}).
Context (cm : Name -> machine Qry Ans) (f : Name -> list message -> bool) (loss delta : Name -> Q).
Context (loss_ok : forall n, 1 <= loss n) (delta_ok : forall n, 0 <= delta n < 1).
Context (claims : forall n, continual_private (f n) (loss n) (delta n) (cm n)).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).

(* The (epsilon, delta) filter for continual mechanisms: the improved basic rule, mechanisms and parameters chosen
   adaptively. *)
Theorem concurrent_improved E D : 1 <= E -> 0 <= D ->
  continual_private (suitable eqName f decode (by_rule (improved loss delta E D))) E D
  (ext_con_comp cm decode yes no invalid).
Proof.
  intros HE HD. apply concurrent_filter with (rule := improved loss delta E D); [|auto].
  apply improved_valid; try assumption. intros n. apply refusing, claims.
Qed.

(* The admission of a fixed list of mechanisms, to be created in that order. *)
Definition next_of (l : list Name) (before : list Name) (n : Name) : bool :=
  if list_eq_dec eqName (firstn (S (length before)) l) (before ++ [n]) then true else false.

(* A fixed list of continual mechanisms costs the product of the e_j and 1 - product of (1 - delta_j) ([HSV25] Thm
   4.10 with this bound). *)
Theorem concurrent_fixed l :
  continual_private (suitable eqName f decode (next_of l)) (product_of loss l) (1 - product_of (kept_of delta) l)
    (ext_con_comp cm decode yes no invalid).
Proof.
  assert (P : forall a b : list Name, product_of loss a * product_of loss b == product_of loss (a ++ b)).
  { intros a b. induction a as [|n a IH]; cbn [product_of app]; [ring|]. rewrite <- IH. ring. }
  assert (P' : forall a b : list Name, product_of (kept_of delta) a * product_of (kept_of delta) b
    == product_of (kept_of delta) (a ++ b)).
  { intros a b. induction a as [|n a IH]; cbn [product_of app]; [ring|]. rewrite <- IH. ring. }
  assert (L : forall a, 1 <= product_of loss a). { intros a. induction a as [|n a IH]; cbn [product_of]; [lra|].
  specialize (loss_ok n). nra. }
  assert (K : forall a, 0 <= product_of (kept_of delta) a <= 1).
  { intros a. induction a as [|n a [IH IH']]; cbn [product_of]; [lra|]. unfold kept_of at 1 3. destruct (delta_ok n).
    split; nra. }
  apply concurrent_filter with (rule := improved loss delta (product_of loss l) (1 - product_of (kept_of delta) l)).
  - apply improved_valid; try assumption; [intros n; apply refusing, claims|apply L|destruct (K l); lra].
  - intros a n H. unfold next_of in H. destruct list_eq_dec as [E|]; [|discriminate].
    apply improved_good. rewrite <- E. set (x := firstn _ l). set (y := skipn (S (length a)) l).
    assert (F : product_of loss l == product_of loss x * product_of loss y) by (rewrite P; unfold x, y;
      now rewrite firstn_skipn).
    assert (F' : product_of (kept_of delta) l
      == product_of (kept_of delta) x * product_of (kept_of delta) y) by (rewrite P'; unfold x, y;
      now rewrite firstn_skipn).
    rewrite F, F'. assert (L1 := L x). assert (L2 := L y). destruct (K x), (K y). split; nra.
Qed.
End Rules.
End Continual.
