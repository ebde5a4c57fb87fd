(* From filters to odometers, and several rules at once. A rule says which lists of losses are within budget. *)
From Odometry Require Export PureFilter.

Section Odometer.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Notation filter_machine admit := (filter_machine mech admit decode yes no invalid).
Notation account admit := (account admit decode yes no invalid).
Notation good rule acc := (rule (map fst acc) = true).

(* A rule is valid at (E, D) for these mechanisms: every filter that admits at most what the rule does is (E,
   D)-private. (A rule says which lists of names are within budget.) *)
Definition valid (rule : list Name -> bool) (E D : Q) := forall admit,
  (forall l n, admit l n = true -> rule (l ++ [n]) = true) -> approx_dp E D (filter_machine admit).

(* The empty list is within the rule, and so is every beginning of a list that is. *)
Definition closed (rule : list Name -> bool) := rule [] = true /\ forall l n, rule (l ++ [n]) = true -> rule l = true.

Lemma within_closed (loss : Name -> Q) E : (forall n, 1 <= loss n) -> 1 <= E -> closed (within loss E).
Proof.
  intros L HE. unfold closed, within. split; [now apply Qle_bool_iff|]. intros l n. rewrite !Qle_bool_iff, prod_app.
  intros H.
  assert (P : 0 <= product_of loss l) by (apply prod_ge_0; intros m; specialize (L m); lra). specialize (L n). nra.
Qed.

Section Rule.
Context (rule : list Name -> bool) (rule_closed : closed rule).

(* Admit what the first says if the rule allows it, too. *)
Definition capped (admit : list Name -> Name -> bool) l n := admit l n && rule (l ++ [n]).

Lemma account_capped admit t acc : account admit [] t = Some acc -> good rule acc ->
  account (capped admit) [] t = Some acc.
Proof.
  revert acc; induction t as [|[q a] t IH] using rev_ind; intros acc; [easy|]. rewrite !account_app.
  destruct (Filter.account admit _ _ _ _ [] t) as [acc'|]; [|discriminate]. rewrite account_one. intros H G.
  enough (G' : good rule acc').
  { rewrite (IH acc' eq_refl G'), account_one. rewrite <- H. unfold log in *.
    destruct (decode q) as [n|j q'|]; try reflexivity.
    unfold capped. destruct (admit (map fst acc') n); [|reflexivity]. cbn. unfold when in H.
    destruct eqA; [|discriminate].
    injection H as <-. rewrite map_app in G. cbn in G. now rewrite G. }
  unfold log, when in H. destruct (decode q) as [n|j q'|].
  - destruct admit; destruct eqA; try discriminate; injection H as <-; [|assumption]. rewrite map_app in G.
    now apply (proj2 rule_closed _ n).
  - destruct extend eqn:Ex; [injection H as <-; now rewrite <- (extend_names _ _ _ _ Ex)|].
    destruct eqA; [|discriminate]. now injection H as <-.
  - destruct eqA; [|discriminate]. now injection H as <-.
Qed.

(* From filters to odometers, whatever is admitted: a set of views that were all charged within a valid rule has at
   most E times the probability of the neighbour, plus D. *)
Theorem odometer E D : valid rule E D -> forall admit A T b,
  (forall t acc, In t (views A) -> T t = true -> account admit [] t = Some acc -> good rule acc) ->
  seen (filter_machine admit b) A T <= E * seen (filter_machine admit (negb b)) A T + D.
Proof.
  intros V admit A T b HT. pose (possible (t : list (Qry * Ans)) := if account admit [] t then true else false).
  assert (Same : forall b, seen (filter_machine admit b) A T
    == seen (filter_machine (capped admit) b) A (fun t => T t && possible t)).
  { clear b. intros b. unfold seen. rewrite !sum_filter. apply sum_ext; intros t Ht. unfold possible.
    destruct (T t) eqn:HTt; [|reflexivity].
    destruct (account admit [] t) as [acc|] eqn:Acc; cbn; rewrite law, ?Acc; [|reflexivity].
    rewrite law, (account_capped _ _ _ Acc); [reflexivity|]. now apply (HT t). }
  rewrite !Same. apply V. intros l n H. now apply andb_prop in H.
Qed.

(* The adversary stopped before the first launch that would pass the rule ([HST+23] Def 2.10, 2.11; Alg 5 shows one
   answer too many). *)
Fixpoint truncated (admit : list Name -> Name -> bool) (l : list Name) (A : @adversary Qry Ans) : @adversary Qry Ans :=
  match A with
  | Stop => Stop
  | Ask q k =>
      let go l := Ask q (fun a => truncated admit l (k a)) in
      match decode q with
      | Launch n => if admit l n then if rule (l ++ [n]) then go (l ++ [n]) else Stop else go l
      | _ => go l
      end
  end.

Lemma truncated_good admit A : forall acc0 t acc, good rule acc0 ->
  In t (views (truncated admit (map fst acc0) A)) -> account admit acc0 t = Some acc -> good rule acc.
Proof.
  induction A as [|q k IH]; intros acc0 t acc G Ht Hacc; [destruct Ht as [<-|[]]; now injection Hacc as <-|].
  assert (Down : forall l, In t (views (Ask q (fun a => truncated admit l (k a)))) ->
    exists a t', t = (q, a) :: t' /\ In t' (views (truncated admit l (k a)))).
  { intros l H. cbn in H. apply in_flat_map in H. destruct H as [a [_ H]]. apply in_map_iff in H.
    destruct H as [t' [<- H]]. eauto. }
  cbn [truncated] in Ht. destruct (decode q) as [n|j q'|] eqn:De.
  - destruct (admit (map fst acc0) n) eqn:Ad; [destruct (rule (map fst acc0 ++ [n])) eqn:Fi|];
      [|destruct Ht as [<-|[]]; now injection Hacc as <-|]; apply Down in Ht; destruct Ht as [a [t' [-> Ht]]];
      cbn in Hacc; rewrite De, Ad in Hacc; unfold when in Hacc; destruct eqA; try discriminate;
        [|now apply (IH a acc0 t')].
    apply (IH a (acc0 ++ [(n, [])]) t'); try assumption; rewrite map_app; assumption.
  - apply Down in Ht. destruct Ht as [a [t' [-> Ht]]]. cbn in Hacc. rewrite De in Hacc.
    destruct (extend j (q', a) acc0) as [acc1|] eqn:Ex.
    + apply (IH a acc1 t'); try rewrite (extend_names _ _ _ _ Ex); assumption.
    + unfold when in Hacc. destruct eqA; [|discriminate]. now apply (IH a acc0 t').
  - apply Down in Ht. destruct Ht as [a [t' [-> Ht]]]. cbn in Hacc. rewrite De in Hacc.
    unfold when in Hacc. destruct eqA; [|discriminate]. now apply (IH a acc0 t').
Qed.

(* The truncated view of an odometer, whatever it admits, is (E, D)-private for a valid rule. *)
Theorem truncated_view E D : valid rule E D -> forall admit A T b,
  seen (filter_machine admit b) (truncated admit [] A) T
    <= E * seen (filter_machine admit (negb b)) (truncated admit [] A) T + D.
Proof.
  intros V admit A T b. apply odometer; [assumption|]. intros t acc Ht _.
  apply (truncated_good admit A []); [apply rule_closed|assumption].
Qed.
End Rule.

(* Two rules at once: admit while either is kept, and pay for both deltas. *)
Lemma either_closed r r' : closed r -> closed r' -> closed (fun l => r l || r' l).
Proof.
  intros [H0 H] [H0' H']. split; [now rewrite H0|]. intros l n G. apply orb_true_iff in G. apply orb_true_iff.
  destruct G as [G|G]; [left|right]; eauto.
Qed.

(* Two rules at once: admitting while either is kept costs both deltas (Union<A, B>). *)
Theorem union r r' E D D' : closed r -> closed r' -> valid r E D -> valid r' E D' ->
  valid (fun l => r l || r' l) E (D + D').
Proof.
  intros C C' V V' admit Hadmit b A T.
  pose (one (t : list (Qry * Ans)) := match account admit [] t with Some acc => r (map fst acc) | None => true end).
  assert (Split : forall m, seen m A T == seen m A (fun t => T t && one t) + seen m A (fun t => T t && negb (one t))).
  { intros m. unfold seen. rewrite !sum_filter, <- sum_plus. apply sum_ext; intros t _.
    destruct (T t), (one t); cbn; ring. }
  rewrite !Split.
  assert (H := odometer r C E D V admit A (fun t => T t && one t) b).
  assert (H' := odometer r' C' E D' V' admit A (fun t => T t && negb (one t)) b).
  enough (Hs : forall x y z x' y' z', x <= E * y + z -> x' <= E * y' + z' -> x + x' <= E * (y + y') + (z + z')).
  { apply Hs; [apply H|apply H'].
    - intros t acc _ HT Acc. apply andb_prop in HT. destruct HT as [_ HT]. unfold one in HT. now rewrite Acc in HT.
    - intros t acc _ HT Acc. apply andb_prop in HT. destruct HT as [_ HT]. unfold one in HT. rewrite Acc in HT.
      assert (K := kept decode yes no invalid admit (fun l => r l || r' l = true)).
      destruct (r (map fst acc)) eqn:Er; [discriminate|].
      enough (r (map fst acc) || r' (map fst acc) = true) by now rewrite Er in *.
      apply (K) with (t := t); [now rewrite (proj1 C)|intros l n _; apply Hadmit|assumption]. }
  intros; lra.
Qed.
End Odometer.
