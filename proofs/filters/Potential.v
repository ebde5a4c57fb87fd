(* One argument for every measure that multiplies. If a functional of views' laws, phi(P(t), P'(t)) summed over the
   views t, is bounded for each child against every adversary, it is bounded for the filter. The potential is the
   product over the children of what each can still come to in the worst case. No simulation is needed. *)
From Odometry Require Export PureFilter Measure.
From Coq Require Import Lia Setoid Morphisms.

Section Potential.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Notation answers := (every Ans).
Context {le : Q -> Q -> Prop} (ord : direction le).
Infix "<<" := le (at level 70).
#[local] Instance le_order : PreOrder le := le_preorder ord.
#[local] Instance le_compatible : Proper (Qeq ==> Qeq ==> iff) le := le_proper ord.
Notation le_scale := (le_scale ord).  Notation le_sum := (le_sum ord).
Notation bounded := (@bounded Qry Ans le).  Notation reach := (@reach Qry Ans le ord).
Notation pr := (@pr Qry Ans).  Notation views := (@views Qry Ans).  Notation transcript := (@transcript Qry Ans).

Section Filter.
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans) (admit : list Name -> Name -> bool).
Context (phi : Name -> Q -> Q -> Q) (c : Name -> Q) (F : forall n, functional (phi n)) (c_pos : forall n, 0 < c n).
Context (b : bool) (children : forall n, bounded (phi n) (c n) (mech n b) (mech n (negb b))).
Notation filter_machine := (filter_machine mech admit decode yes no invalid).
Notation account := (account admit decode yes no invalid).
Notation ledger := (@ledger Qry Ans Name).

(* The filter's own functional and bound, and what the rule keeps. *)
Context (Phi : Q -> Q -> Q) (C : Q) (F' : functional Phi) (C_pos : 0 <= C) (Phi_0 : Phi 0 0 == 0).
Context (good : list Name -> Prop) (good_nil : good []) (good_admit : forall l n, good l -> admit l n = true ->
  good (l ++ [n])).
Context (good_c : forall l, good l -> C << product_of c l).
Context (good_phi : forall acc : ledger, good (map fst acc) ->
  product (fun x => phi (fst x) (pr (mech (fst x) b) (snd x)) (pr (mech (fst x) (negb b)) (snd x))) acc
  << Phi (weight mech b acc) (weight mech (negb b) acc)).

Section Queries.
Context (qs : list Qry).

(* What a child can still come to, in the worst case over N more questions. *)
Definition child_reach (N : nat) (x : Name * transcript) : Q :=
  reach qs (phi (fst x)) (mech (fst x) b) (mech (fst x) (negb b)) N (snd x).

(* The product over the children of what each can still come to. *)
Definition potential (N : nat) : ledger -> Q := product (child_reach N).

(* The product of the bounds of the launched children. *)
Definition promised (acc : ledger) : Q := product_of c (map fst acc).

Lemma child_reach_pos N x : 0 <= child_reach N x.
Proof. now apply reach_pos. Qed.

Lemma potential_pos N acc : 0 <= potential N acc.
Proof. apply product_pos, child_reach_pos. Qed.

Lemma promised_pos acc : 0 <= promised acc.
Proof. apply prod_ge_0. intros n. now apply Qlt_le_weak. Qed.

Lemma product_le f g (acc : ledger) : (forall x, 0 <= f x) -> (forall x, 0 <= g x) -> (forall x, f x << g x) ->
  product f acc << product g acc.
Proof.
  intros Hf Hg H. induction acc as [|x acc IH]; cbn; [reflexivity|].
  apply (le_mult _ ord); auto; now apply product_pos.
Qed.

Lemma potential_less N acc : potential (S N) acc << potential N acc.
Proof. apply product_le; try apply child_reach_pos. intros x. apply reach_less. Qed.

Lemma potential_app N acc n : potential N (acc ++ [(n, [])]) == potential N acc * child_reach N (n, []).
Proof. unfold potential. induction acc as [|x acc IH]; cbn [app product]; [|rewrite IH]; ring. Qed.

(* The potential after child j answers a to question q. *)
Definition after_answer (N j : nat) (q : Qry) (acc : ledger) (a : Ans) : Q :=
  match extend j (q, a) acc with Some acc => potential N acc | None => 0 end.

Lemma after_pos N j q acc a : 0 <= after_answer N j q acc a.
Proof. unfold after_answer. destruct extend; [apply potential_pos|lra]. Qed.

Lemma potential_ask N q acc : In q qs -> forall j, (j < length acc)%nat ->
  potential (S N) acc << sum (after_answer N j q acc) answers.
Proof.
  intros Hq; induction acc as [|[n h] acc IH]; intros [|j] Hj; cbn in Hj; try lia.
  - transitivity (potential N acc * sum (fun a => child_reach N (n, h ++ [(q, a)])) answers).
    + rewrite Qmult_comm. apply (le_mult _ ord (child_reach (S N) (n, h)) _ (potential (S N) acc));
        [apply child_reach_pos|apply sum_pos; intros;
          apply child_reach_pos|apply potential_pos|apply potential_pos| |apply potential_less].
      exact (reach_ask ord qs (phi n) (mech n b) (mech n (negb b)) N h q Hq).
    + rewrite <- sum_scale. apply le_sum; intros a. apply (le_eq _ ord). apply Qmult_comm.
  - transitivity (child_reach N (n, h) * sum (after_answer N j q acc) answers).
    + apply (le_mult _ ord (child_reach (S N) (n, h)) _ (potential (S N) acc));
        [apply child_reach_pos|apply child_reach_pos|apply potential_pos|apply sum_pos; intros;
          apply after_pos|apply reach_less|].
      apply IH. lia.
    + rewrite <- sum_scale. apply le_sum; intros a. apply (le_eq _ ord). unfold after_answer. cbn [extend].
      destruct (extend j (q, a) acc); cbn [option_map]; [reflexivity|ring].
Qed.

(* The largest number of questions of an adversary. *)
Fixpoint depth (A : @adversary Qry Ans) : nat :=
  match A with Stop => O | Ask q k => S (fold_right (fun a n => max (depth (k a)) n) O answers) end.

(* The questions that an adversary may put to children. *)
Fixpoint asked (A : @adversary Qry Ans) : list Qry :=
  match A with
  | Stop => []
  | Ask q k => match decode q with To _ q => [q] | _ => [] end ++ flat_map (fun a => asked (k a)) answers
  end.

Lemma max_le (f : Ans -> nat) a l : In a l -> (f a <= fold_right (fun a n => max (f a) n) O l)%nat.
Proof. induction l as [|a' l IH]; [easy|]. cbn. intros [->|I]; [lia|]. specialize (IH I). lia. Qed.

Lemma depth_le q k N a : (depth (Ask q k) <= S N)%nat -> (depth (k a) <= N)%nat.
Proof. cbn [depth]. assert (H := max_le (fun a => depth (k a)) a answers (every_all Ans a)). cbn in H. lia. Qed.

Notation overlap := (total Phi (filter_machine b) (filter_machine (negb b))).

Lemma overlap_none g A : account [] g = None -> overlap g A == 0.
Proof.
  intros Hg. unfold total. rewrite <- (sum_zero (views A)). apply sum_ext; intros t _.
  rewrite <- Phi_0. apply F'; rewrite law, account_app, Hg; reflexivity.
Qed.

Lemma overlap_only g q k a acc : account [] g = Some acc ->
  (forall a', a' <> a -> log admit decode yes no invalid acc (q, a') = None) ->
  overlap g (Ask q k) == overlap (g ++ [(q, a)]) (k a).
Proof.
  intros Hg H. rewrite total_Ask.
  rewrite (sum_ext _ (fun a' => if eqA a a' then overlap (g ++ [(q, a)]) (k a) else 0)).
  - rewrite indicator by apply every_once. destruct in_dec as [|n]; [reflexivity|]. elim n; apply every_all.
  - intros a' _. destruct eqA as [<-|ne]; [reflexivity|]. apply overlap_none.
    rewrite account_app, Hg, account_one. apply H. congruence.
Qed.

(* The claim of the descent below, for all that can follow question q, with N questions left. *)
Definition descends_after (N : nat) (g : transcript) (acc : ledger) (q : Qry) (k : Ans -> adversary) : Prop :=
  forall a acc', log admit decode yes no invalid acc (q, a) = Some acc' ->
    C * potential N acc' << promised acc' * overlap (g ++ [(q, a)]) (k a).

(* Step 1: the adversary stops. *)
Lemma descent_stop N g acc : account [] g = Some acc -> C * potential N acc << promised acc * overlap g Stop.
Proof.
  intros Hg.
  assert (G : good (map fst acc)) by exact (kept decode yes no invalid admit good good_nil good_admit g acc Hg).
  apply (le_mult _ ord); [assumption|apply promised_pos|apply potential_pos|now apply total_pos|now apply good_c|].
  unfold total. cbn [Machine.views sum]. rewrite app_nil_r, Qplus_0_r.
  assert (E : Phi (pr (filter_machine b) g) (pr (filter_machine (negb b)) g)
    == Phi (weight mech b acc) (weight mech (negb b) acc)) by (apply F'; now rewrite law, Hg).
  rewrite E, <- good_phi by assumption. apply product_le; [apply child_reach_pos|intros; apply F; apply pr_pos|].
  intros x. apply reach_now.
Qed.

(* Step 2: the answer is certain, and the account stays as it was. *)
Lemma descent_same a N g acc q k : account [] g = Some acc -> descends_after N g acc q k ->
  (forall a', log admit decode yes no invalid acc (q, a') = when a' a acc) ->
  C * potential (S N) acc << promised acc * overlap g (Ask q k).
Proof.
  intros Hg IH Ha. transitivity (C * potential N acc).
  { apply le_scale; [assumption|apply potential_pos|apply potential_pos|apply potential_less]. }
  rewrite (overlap_only g q k a acc Hg).
  - apply IH. rewrite Ha. unfold when. now destruct eqA.
  - intros a' ne. rewrite Ha. unfold when. destruct eqA; [congruence|reflexivity].
Qed.

(* Step 3: a launch is admitted. The new child can still come to at least its bound. *)
Lemma descent_launch n N g acc q k : account [] g = Some acc -> descends_after N g acc q k ->
  decode q = Launch n -> admit (map fst acc) n = true ->
  C * potential (S N) acc << promised acc * overlap g (Ask q k).
Proof.
  intros Hg IH De Ad.
  assert (Log : forall a, log admit decode yes no invalid acc (q, a) = when a yes (acc ++ [(n, [])])).
  { intros a. unfold log. now rewrite De, Ad. }
  rewrite (overlap_only g q k yes acc Hg) by (intros a' ne; rewrite Log; unfold when; destruct eqA; congruence).
  specialize (IH yes (acc ++ [(n, [])])). rewrite Log in IH. unfold when in IH. destruct (eqA yes yes); [|congruence].
  specialize (IH eq_refl). unfold promised in IH. rewrite potential_app, map_app in IH. cbn [map fst] in IH.
  rewrite prod_app in IH. fold (promised acc) in IH.
  assert (K : c n << child_reach N (n, [])) by apply (reach_start ord qs (phi n)), children.
  set (x := overlap _ _) in *. apply (le_cancel _ ord _ _ (c n)); [apply c_pos|].
  rewrite <- (Qmult_assoc _ x), (Qmult_comm x), Qmult_assoc, <- IH, <- Qmult_assoc.
  assert (P := Qlt_le_weak _ _ (c_pos n)).
  apply le_scale; [assumption|apply Qmult_le_0_compat; [apply potential_pos|assumption]|
    apply Qmult_le_0_compat; [apply potential_pos|apply child_reach_pos]|].
  apply (le_mult _ ord); try apply potential_pos; [assumption|apply child_reach_pos|apply potential_less|exact K].
Qed.

(* Step 4: a child is asked. What it can still come to is the worst case over this question, too. *)
Lemma descent_ask j q' N g acc q k : descends_after N g acc q k -> decode q = To j q' -> In q' qs ->
  (j < length acc)%nat -> C * potential (S N) acc << promised acc * overlap g (Ask q k).
Proof.
  intros IH De Hq Hj. rewrite total_Ask, <- sum_scale.
  transitivity (sum (fun a => C * after_answer N j q' acc a) answers).
  { rewrite sum_scale. apply le_scale; [assumption|apply potential_pos|apply sum_pos; intros; apply after_pos|].
    now apply potential_ask. }
  apply le_sum; intros a. specialize (IH a). unfold log in IH. rewrite De in IH. unfold after_answer.
  destruct (extend j (q', a) acc) as [acc'|] eqn:Ex.
  - specialize (IH acc' eq_refl). unfold promised in *. now rewrite (extend_names _ _ _ _ Ex) in IH.
  - exfalso. apply (extend_some (q', a)) in Hj. destruct Hj. congruence.
Qed.

(* From every history, the potential times the filter's bound C is on the right side of what adversary A makes of the
   filter, times what was promised. Induction over the adversary. *)
Theorem descent A : incl (asked A) qs -> forall N g acc, (depth A <= N)%nat -> account [] g = Some acc ->
  C * potential N acc << promised acc * overlap g A.
Proof.
  induction A as [|q k IH]; intros Hq N g acc HN Hg; [now apply descent_stop|].
  destruct N as [|N]; [cbn in HN; lia|].
  assert (After : descends_after N g acc q k).
  { intros a acc' Ha. apply IH.
    - intros x Hx. apply Hq. cbn. apply in_or_app. right. apply in_flat_map. exists a.
      split; [apply every_all|assumption].
    - eapply depth_le; eassumption.
    - now rewrite account_app, Hg, account_one. }
  destruct (decode q) as [n|j q'|] eqn:De.
  - destruct (admit (map fst acc) n) eqn:Ad; [now apply (descent_launch n)|].
    apply (descent_same no); [assumption|assumption|]. intros a. unfold log. now rewrite De, Ad.
  - destruct (Nat.ltb_spec j (length acc)) as [Hj|Hj].
    + apply (descent_ask j q'); try assumption. apply Hq. cbn. rewrite De. now left.
    + apply (descent_same invalid); [assumption|assumption|]. intros a. unfold log. rewrite De.
      destruct (extend j (q', a) acc) eqn:Ex; [|reflexivity].
      exfalso. assert (j < length acc)%nat by (apply (extend_some (q', a)); eauto). lia.
  - apply (descent_same invalid); [assumption|assumption|]. intros a. unfold log. now rewrite De.
Qed.
End Queries.

(* Composition for every measure that multiplies: if each child is bounded by c(n), and what is admitted keeps the
   product of the bounds on the right side of C, the filter is bounded by C. *)
Theorem potential_composition : bounded Phi C (filter_machine b) (filter_machine (negb b)).
Proof.
  intros A. assert (H := descent (asked A) A (incl_refl _) (depth A) [] [] (le_n _) eq_refl).
  unfold potential, promised in H. cbn [map product product_of] in H. now rewrite Qmult_1_l, Qmult_1_r in H.
Qed.
End Filter.
End Potential.
