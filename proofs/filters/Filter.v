(* The filter, as a machine: it launches mechanisms and passes questions on to them, in any order. Names, and so
   mechanisms and losses, may be chosen by earlier answers. *)
From Odometry Require Export Machine.
From Coq Require Import Lia.

(* What a message can mean: launch the mechanism of this name; put question q to child j; anything else. *)
Inductive command (Name Qry : Type) := Launch (n : Name) | To (j : nat) (q : Qry) | Other.
Arguments Launch {Name Qry}. Arguments To {Name Qry}. Arguments Other {Name Qry}.

Section Filter.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).  (* the bool: which of two neighbouring data sets *)
Context (admit : list Name -> Name -> bool).                     (* admitted so far, the next one *)
Context (decode : Qry -> command Name Qry).                      (* any encoding of commands in messages *)
Context (yes no invalid : Ans).

Notation transcript := (@transcript Qry Ans).

Section Data.
Context (b : bool).

(* A child: its name and its present state. *)
Definition child := {n : Name & state (mech n b)}.

(* The names of the children, in the order of their launches. *)
Definition names : list child -> list Name := map (@projT1 _ _).

(* The outcomes of putting question q to child j. If there is no such child the answer is "invalid" and nothing
   changes. *)
Fixpoint ask (j : nat) (q : Qry) (cs : list child) : list (Q * (Ans * list child)) :=
  match cs, j with
  | [], _ => [(1, (invalid, []))]
  | existT _ n s :: cs, O =>
      map (fun o => (fst o, (fst (snd o), existT _ n (snd (snd o)) :: cs))) (step (mech n b) s q)
  | c :: cs, S j => map (fun o => (fst o, (fst (snd o), c :: snd (snd o)))) (ask j q cs)
  end.

(* One step of the filter. A launch that is admitted adds a child and is answered "yes"; one that is not is answered
   "no" and changes nothing. *)
Definition fstep (cs : list child) (q : Qry) : list (Q * (Ans * list child)) :=
  match decode q with
  | Launch n => if admit (names cs) n then [(1, (yes, cs ++ [existT _ n (start (mech n b))]))] else [(1, (no, cs))]
  | To j q => ask j q cs
  | Other => [(1, (invalid, cs))]
  end.

Lemma ask_pos q o cs : forall j, In o (ask j q cs) -> 0 <= fst o.
Proof.
  revert o; induction cs as [|[n s] cs IH]; intros o [|j]; cbn; try (intros [<-|[]]; cbn; lra);
    intros H; apply in_map_iff in H; destruct H as [o' [<- H]]; cbn.
  - now apply (step_pos _ s q).
  - now apply (IH o' j).
Qed.

Lemma ask_one q cs : forall j, sum fst (ask j q cs) == 1.
Proof.
  induction cs as [|[n s] cs IH]; intros [|j]; cbn; try ring; rewrite sum_map; cbn.
  - apply step_one.
  - apply IH.
Qed.

Lemma fstep_pos cs q o : In o (fstep cs q) -> 0 <= fst o.
Proof.
  unfold fstep. destruct (decode q); [destruct admit| |]; try (intros [<-|[]]; cbn; lra). apply ask_pos.
Qed.

Lemma fstep_one cs q : sum fst (fstep cs q) == 1.
Proof. unfold fstep. destruct (decode q); [destruct admit| |]; cbn; try ring. apply ask_one. Qed.

(* The filter over mechanisms mech, on the data set of bit b: a machine again ([HST+23] FiltCon(IM), [HSV25] Def 4.1).
   *)
Definition filter_machine : machine Qry Ans := Machine (list child) [] fstep fstep_pos fstep_one.
End Data.

(* An account: the names that were admitted, each with what the child was asked and answered. It is a function of
   messages and answers alone. *)
Definition ledger := list (Name * transcript).

(* Append a question and its answer to the history of child j. None if there is no child j. *)
Fixpoint extend (j : nat) (x : Qry * Ans) (acc : ledger) : option ledger :=
  match acc, j with
  | [], _ => None
  | (n, h) :: acc, O => Some ((n, h ++ [x]) :: acc)
  | c :: acc, S j => option_map (cons c) (extend j x acc)
  end.

(* The account stays possible only if the answer is the expected one. *)
Definition when (a a' : Ans) (acc : ledger) : option ledger := if eqA a' a then Some acc else None.

(* The account after one more message and its answer. None: this answer is impossible. *)
Definition log (acc : ledger) (x : Qry * Ans) : option ledger :=
  let (q, a) := x in
  match decode q with
  | Launch n => if admit (map fst acc) n then when a yes (acc ++ [(n, [])]) else when a no acc
  | To j q => match extend j (q, a) acc with Some acc => Some acc | None => when a invalid acc end
  | Other => when a invalid acc
  end.

(* The account after a transcript. None: the transcript is impossible. *)
Fixpoint account (acc : ledger) (t : transcript) : option ledger :=
  match t with [] => Some acc | x :: t => match log acc x with Some acc => account acc t | None => None end end.

Lemma account_app t t' : forall acc,
  account acc (t ++ t') = match account acc t with Some acc => account acc t' | None => None end.
Proof. induction t as [|x t IH]; intros acc; cbn; [reflexivity|]. destruct log; [apply IH|reflexivity]. Qed.

Lemma account_one acc x : account acc [x] = log acc x.
Proof. cbn. now destruct log. Qed.

(* The product of f over the children of an account. *)
Fixpoint product (f : Name * transcript -> Q) (acc : ledger) : Q :=
  match acc with [] => 1 | c :: acc => f c * product f acc end.

Lemma product_pos f acc : (forall c, 0 <= f c) -> 0 <= product f acc.
Proof. intros H; induction acc; cbn; [lra|]. now apply Qmult_le_0_compat. Qed.

(* The law of the filter: the children's laws multiply. Hidden states of children do not matter. *)
Section Law.
Context (b : bool).
Notation test := (nat -> forall n, state (mech n b) -> Q).  (* a function of each child's state *)

(* The expectation of F after child j was asked q and answered a. *)
Definition after (q : Qry) (a : Ans) n (f : state (mech n b) -> Q) (s : state (mech n b)) : Q :=
  sum (fun o => if eqA (fst (snd o)) a then fst o * f (snd (snd o)) else 0) (step (mech n b) s q).

(* F, with child j replaced by its expectation after question q and answer a. *)
Fixpoint update (j : nat) (q : Qry) (a : Ans) (F : test) : test :=
  match j with
  | O => fun i => match i with O => fun n => after q a n (F O n) | S i => F (S i) end
  | S j => fun i => match i with O => F O | S i => update j q a (fun i => F (S i)) i end
  end.

(* The product of F over the present states of the children. *)
Fixpoint now (F : test) (cs : list (child b)) : Q :=
  match cs with [] => 1 | existT _ n s :: cs => F O n s * now (fun i => F (S i)) cs end.

(* The product of the expectations of F over the histories of the children. *)
Fixpoint then_ (F : test) (acc : ledger) : Q :=
  match acc with [] => 1 | (n, h) :: acc => expect _ (start (mech n b)) h (F O n) * then_ (fun i => F (S i)) acc end.

Lemma now_app n s cs : forall F, now F (cs ++ [existT _ n s]) == now F cs * F (length cs) n s.
Proof. induction cs as [|[n' s'] cs IH]; intros F; cbn; [|rewrite IH]; ring. Qed.

Lemma then_app n acc : forall F, then_ F (acc ++ [(n, [])]) == then_ F acc * F (length acc) n (start (mech n b)).
Proof. induction acc as [|[n' h] acc IH]; intros F; cbn; [|rewrite IH]; ring. Qed.

Lemma ask_now q a cs : forall j F, (j < length cs)%nat ->
  sum (fun o => if eqA (fst (snd o)) a then fst o * now F (snd (snd o)) else 0) (ask b j q cs)
    == now (update j q a F) cs.
Proof.
  induction cs as [|[n s] cs IH]; intros [|j] F H; cbn in *; try (now inversion H); rewrite sum_map; cbn.
  - rewrite Qmult_comm. unfold after. rewrite <- sum_scale.
    apply sum_ext; intros o _. destruct eqA; ring.
  - rewrite <- IH by lia. rewrite <- sum_scale. apply sum_ext; intros o _. destruct eqA; ring.
Qed.

Lemma extend_then q a acc : forall j F acc', extend j (q, a) acc = Some acc' ->
  then_ F acc' == then_ (update j q a F) acc.
Proof.
  induction acc as [|[n h] acc IH]; intros [|j] F acc' H; cbn in *; try discriminate.
  - injection H as <-. cbn. now rewrite expect_snoc.
  - destruct extend eqn:E; [|discriminate]. injection H as <-. cbn. now rewrite (IH j _ l E).
Qed.

Lemma extend_names x acc : forall j acc', extend j x acc = Some acc' -> map fst acc' = map fst acc.
Proof.
  induction acc as [|[n h] acc IH]; intros [|j] acc' H; cbn in *; try discriminate.
  - now injection H as <-.
  - destruct extend eqn:E; [|discriminate]. injection H as <-. cbn. now rewrite (IH j l E).
Qed.

Lemma extend_some x acc : forall j, (j < length acc)%nat <-> exists acc', extend j x acc = Some acc'.
Proof.
  induction acc as [|[n h] acc IH]; intros [|j]; cbn; split; intros H; try (now inversion H); try (now destruct H).
  - eauto.
  - lia.
  - apply PeanoNat.Nat.succ_lt_mono, IH in H. destruct H as [l ->]. cbn; eauto.
  - destruct H as [l H]. destruct extend eqn:E; [|discriminate]. apply -> PeanoNat.Nat.succ_lt_mono. apply IH. eauto.
Qed.

Lemma ask_none j q cs : (length cs <= j)%nat -> ask b j q cs = [(1, (invalid, cs))].
Proof.
  revert j; induction cs as [|[n s] cs IH]; intros [|j] H; cbn in *; try easy; try (now inversion H).
  rewrite IH by lia. reflexivity.
Qed.

Lemma ask_names q o cs : forall j, In o (ask b j q cs) -> names b (snd (snd o)) = names b cs.
Proof.
  revert o; induction cs as [|[n s] cs IH]; intros o [|j]; cbn; try (intros [<-|[]]; reflexivity);
    intros H; apply in_map_iff in H; destruct H as [o' [<- H]]; cbn; [reflexivity|].
  now rewrite (IH o' j H).
Qed.

Lemma same_length cs (acc : ledger) : names b cs = map fst acc -> length cs = length acc.
Proof. intros H. rewrite <- (map_length fst acc), <- H. symmetry. apply map_length. Qed.

Lemma factor t :
  match account [] t with
  | None => forall G, expect (filter_machine b) [] t G == 0
  | Some acc => forall c F G, (forall cs, names b cs = map fst acc -> G cs == c * now F cs) ->
      expect (filter_machine b) [] t G == c * then_ F acc
  end.
Proof.
  induction t as [|[q a] t IH] using rev_ind; [cbn; intros; now apply H|].
  rewrite account_app. destruct (account [] t) as [acc|]; [rewrite account_one|].
  2: { intros G. rewrite expect_snoc. apply IH. }
  assert (Same : forall a', (forall cs, names b cs = map fst acc -> fstep b cs q = [(1, (a', cs))]) ->
    match when a a' acc with
    | None => forall G, expect (filter_machine b) [] (t ++ [(q, a)]) G == 0
    | Some acc => forall c F G, (forall cs, names b cs = map fst acc -> G cs == c * now F cs) ->
        expect (filter_machine b) [] (t ++ [(q, a)]) G == c * then_ F acc
    end).
  { intros a' Hs. unfold when. destruct eqA as [->|ne].
    - intros c F G HG. rewrite expect_snoc. apply IH. intros cs Hn. cbn. rewrite Hs by assumption. cbn.
      destruct (eqA a a); [|congruence]. rewrite HG by assumption. ring.
    - intros G. rewrite expect_snoc. rewrite (IH 0 (fun _ _ _ => 1)); [ring|]. intros cs Hn. cbn.
      rewrite Hs by assumption. cbn. destruct (eqA a' a); [contradiction|]. ring. }
  unfold log. destruct (decode q) as [n|j q'|] eqn:D.
  - destruct (admit (map fst acc) n) eqn:Ad.
    + assert (Hs : forall cs, names b cs = map fst acc ->
        fstep b cs q = [(1, (yes, cs ++ [existT _ n (start (mech n b))]))]).
      { intros cs Hn. unfold fstep. now rewrite D, Hn, Ad. }
      unfold when. destruct eqA as [->|ne].
      * intros c F G HG. rewrite expect_snoc, then_app.
        rewrite (IH (c * F (length acc) n (start (mech n b))) F).
        { rewrite <- Qmult_assoc. apply Qmult_comp; [reflexivity|]. apply Qmult_comm. }
        intros cs Hn. cbn. rewrite Hs by assumption. cbn.
        destruct (eqA a a); [|congruence]. rewrite HG.
        2: { etransitivity; [apply map_app|]. etransitivity; [|symmetry; apply map_app]. cbn. f_equal. exact Hn. }
        rewrite now_app, <- (same_length cs acc Hn).
        assert (R : forall x y z : Q, 1 * (x * (y * z)) + 0 == x * z * y) by (intros; ring). apply R.
      * intros G. rewrite expect_snoc. rewrite (IH 0 (fun _ _ _ => 1)); [ring|]. intros cs Hn. cbn.
        rewrite Hs by assumption. cbn. destruct (eqA yes a); [contradiction|]. ring.
    + apply Same. intros cs Hn. unfold fstep. now rewrite D, Hn, Ad.
  - destruct (extend j (q', a) acc) as [acc'|] eqn:E.
    + intros c F G HG. rewrite expect_snoc, (extend_then _ _ _ _ _ _ E).
      apply IH. intros cs Hn. cbn. unfold fstep. rewrite D, <- ask_now, <- sum_scale.
      2: { rewrite (same_length cs acc Hn). apply (extend_some (q', a)). eauto. }
      apply sum_ext; intros o Ho. destruct eqA; [|ring]. rewrite HG; [ring|].
      rewrite (ask_names _ _ _ _ Ho), Hn. symmetry. eapply extend_names; eauto.
    + apply Same. intros cs Hn. unfold fstep. rewrite D. apply ask_none.
      rewrite (same_length cs acc Hn).
      apply PeanoNat.Nat.nlt_ge. intros H. apply (extend_some (q', a)) in H. destruct H. congruence.
  - apply Same. intros cs Hn. unfold fstep. now rewrite D.
Qed.

(* The product of the probabilities of the children's own transcripts. *)
Definition weight : ledger -> Q := product (fun c => pr (mech (fst c) b) (snd c)).

(* The law of a filter: the probability of a transcript is the product of the probabilities of its children's
   transcripts, or 0 where the account is impossible. Interleaving and hidden states do not matter. *)
Theorem law t : pr (filter_machine b) t == match account [] t with None => 0 | Some acc => weight acc end.
Proof.
  unfold Machine.pr at 1. assert (H := factor t). destruct (account [] t) as [acc|]; [|apply H].
  rewrite (H 1 (fun _ _ _ => 1)).
  - assert (E : forall acc, then_ (fun _ _ _ => 1) acc == weight acc).
    { clear. unfold weight. induction acc as [|[n h] acc IH]; cbn; [reflexivity|]. now rewrite IH. }
    rewrite E. ring.
  - intros cs _. clear. induction cs as [|[n s] cs IH]; cbn; [|rewrite Qmult_1_l in *]; try ring.
    rewrite <- IH. ring.
Qed.
End Law.

(* A refused launch changes nothing: the transcript with it has the probability of the transcript without it if the
   answer is "no", and 0 else. *)
Theorem refused t q n t' acc a b : account [] t = Some acc -> decode q = Launch n -> admit (map fst acc) n = false ->
  pr (filter_machine b) (t ++ (q, a) :: t') == if eqA no a then pr (filter_machine b) (t ++ t') else 0.
Proof.
  intros E D N. rewrite law, account_app, E. cbn [account log]. rewrite D, N. unfold when.
  destruct (eqA no a); [rewrite law, account_app, E|]; reflexivity.
Qed.
End Filter.
