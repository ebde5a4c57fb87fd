(* A tree of accounts. Every launch is charged to the accounts on a path, from a leaf to the root. Each account has
   its own rule, over the launches that are charged to it; a launch is admitted if all accounts on its path admit it.
   The path is a function of the name, and the rule of the account: so teams and sub-teams come in any number and any
   order, and an account may carry its cap in its own name.

   Proved. account_private: if an account's rule, applied to its own launches, is valid for a pair of data sets,
   everything that is seen of the whole tree is within that account's bound, for that pair. Hence root_private: the
   root's bound, for every pair. sub_account: a sub-account's bound, for every pair whose difference reaches only
   launches charged to it (a team's own data), whatever all others do. team_alone: a team's bound, for every pair, for
   its own launches, when all launches of others are earlier and never asked again.

   Not proved, because it is false: that a team's answers alone are within its cap while others use the same data and
   the team's adversary sees their answers. The root's bound holds then. Also not covered: accounts that are reserved
   or released (only launches are charged here), and rules that read answers. *)
From Odometry Require Export ApproximateFilter Advanced.
From Coq Require Import Lia Setoid.

Section Tree.
Context {Qry : Type} {Ans : alphabet}.
Context {Name : Type} (mech : Name -> bool -> machine Qry Ans).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Notation filter_machine admit := (filter_machine mech admit decode yes no invalid).
Notation account admit := (account admit decode yes no invalid).
Notation valid := (valid mech decode yes no invalid).

(* It is enough that the rule is kept on the lists that come about. *)
Lemma account_kept (rule : list Name -> bool) admit : rule [] = true ->
  (forall l n, rule l = true -> admit l n = true -> rule (l ++ [n]) = true) ->
  forall t, account admit [] t = account (capped rule admit) [] t.
Proof.
  intros R0 RS t. induction t as [|[q a] t IH] using rev_ind; [reflexivity|]. rewrite !account_app, <- IH.
  destruct (account admit [] t) as [acc|] eqn:E; [|reflexivity]. rewrite !account_one. unfold log.
  destruct (decode q) as [n|j q'|]; try reflexivity. unfold capped.
  destruct (admit (map fst acc) n) eqn:Ad; [|reflexivity].
  rewrite RS; [reflexivity| |assumption].
  exact (kept decode yes no invalid admit (fun l => rule l = true) R0 RS t acc E).
Qed.

(* A valid rule that is kept along the lists that can come about suffices: admission may say yes on other lists. *)
Theorem valid_kept rule E D : valid rule E D -> rule [] = true -> forall admit,
  (forall l n, rule l = true -> admit l n = true -> rule (l ++ [n]) = true) -> approx_dp E D (filter_machine admit).
Proof.
  intros V R0 admit RS b A T.
  assert (Same : forall b, seen (filter_machine admit b) A T == seen (filter_machine (capped rule admit) b) A T).
  { intros b'. apply sum_ext; intros t _. now rewrite !law, (account_kept rule admit R0 RS t). }
  rewrite !Same. apply V. intros l n H. now apply andb_prop in H.
Qed.

Section Accounts.
Context {Account : Type} (eqAcc : forall a b : Account, {a = b} + {a <> b}).
Context (path : Name -> list Account) (rule : Account -> list Name -> bool).

(* Whether launch n is charged to account a: whether a is on the path of n. *)
Definition charged (a : Account) (n : Name) : bool := if in_dec eqAcc a (path n) then true else false.

(* The launches of a list that are charged to account a. *)
Definition mine (a : Account) (l : list Name) : list Name := List.filter (charged a) l.

(* The admission of a tree of accounts: all accounts on the path of n admit it, each with its own rule, over the
   launches charged to it. *)
Definition tree (l : list Name) (n : Name) : bool := forallb (fun a => rule a (mine a l ++ [n])) (path n).

Lemma mine_app a l n : mine a (l ++ [n]) = mine a l ++ (if charged a n then [n] else []).
Proof. unfold mine. rewrite filter_app. cbn. now destruct (charged a n). Qed.

Lemma tree_charged a l n : charged a n = true -> tree l n = true -> rule a (mine a l ++ [n]) = true.
Proof.
  unfold charged, tree. destruct in_dec as [I|]; [|discriminate]. intros _ H. rewrite forallb_forall in H. now apply H.
Qed.

(* If the rule of account a, applied to the launches charged to a, is valid for these mechanisms, the whole tree is
   within that account's bound. *)
Theorem account_private a E D : valid (fun l => rule a (mine a l)) E D -> rule a [] = true ->
  approx_dp E D (filter_machine tree).
Proof.
  intros V R0. apply (valid_kept _ E D V R0). intros l n R H. rewrite mine_app.
  destruct (charged a n) eqn:C; [now apply tree_charged|now rewrite app_nil_r].
Qed.

(* The root's bound holds for all that everyone sees, whatever the sub-accounts admit, if every launch is charged to
   the root. *)
Theorem root_private root E D : (forall n, In root (path n)) -> valid (rule root) E D ->
  approx_dp E D (filter_machine tree).
Proof.
  intros R V. apply V. intros l n H. assert (C : forall n, charged root n = true).
  { intros m. unfold charged. destruct in_dec as [|N]; [reflexivity|]. elim N. apply R. }
  apply (tree_charged root) in H; [|apply C]. enough (M : mine root l = l) by now rewrite M in H.
  unfold mine. clear H. induction l as [|m l IH]; cbn; [reflexivity|]. now rewrite C, IH.
Qed.

(* The two data sets differ only for mechanisms that are charged to account a: all others are the same machines in
   law. *)
Definition unaffected (a : Account) : Prop := forall n, charged a n = false -> pure_dp 1 (mech n).

(* f for launches charged to account a, and z for the others. *)
Definition only (a : Account) (f : Name -> Q) (x : Q) (n : Name) : Q := if charged a n then f n else x.

Lemma prod_only a f l : product_of (only a f 1) l == product_of f (mine a l).
Proof.
  induction l as [|n l IH]; [reflexivity|]. cbn. fold (mine a l). unfold only at 1.
  destruct (charged a n); cbn; rewrite IH; ring.
Qed.

Lemma improved_only a loss delta E D l :
  improved (only a loss 1) (only a delta 0) E D l = true <-> improved loss delta E D (mine a l) = true.
Proof.
  rewrite !improved_good, prod_only. enough (K : product_of (kept_of (only a delta 0)) l
    == product_of (kept_of delta) (mine a l)) by now rewrite K.
  rewrite <- prod_only. induction l as [|n l IH]; [reflexivity|]. cbn [product_of]. apply Qmult_comp; [|exact IH].
  unfold kept_of, only. destruct (charged a n); [reflexivity|]. cbv beta iota. ring.
Qed.

(* A sub-account's bound (improved basic rule) for everything that everyone sees, for two data sets whose difference
   reaches only launches charged to this account. *)
Theorem sub_account a loss delta E D : 1 <= E -> 0 <= D ->
  (forall l, rule a l = true -> improved loss delta E D l = true) -> rule a [] = true ->
  (forall n, charged a n = true -> 1 <= loss n /\ 0 <= delta n < 1 /\ approx_dp (loss n) (delta n) (mech n)) ->
  unaffected a -> approx_dp E D (filter_machine tree).
Proof.
  intros HE HD R R0 In Out. apply account_private with a; [|assumption]. intros admit Ad.
  apply (improved_valid mech decode yes no invalid (only a loss 1) (only a delta 0)); try assumption.
  - intros n. unfold only. destruct (charged a n) eqn:C; [apply (In n C)|lra].
  - intros n. unfold only. destruct (charged a n) eqn:C; [apply (In n C)|lra].
  - intros n. unfold only. destruct (charged a n) eqn:C; [apply (In n C)|]. intros b.
    apply pure_adversaries; try assumption. now apply Out.
  - intros l n H. apply improved_only, R, Ad, H.
Qed.

(* The same for pure losses. *)
Theorem sub_account_pure a loss E : 1 <= E -> (forall l, rule a l = true -> within loss E l = true) ->
  rule a [] = true ->
  (forall n, charged a n = true -> pure_dp (loss n) (mech n)) -> unaffected a -> pure_dp E (filter_machine tree).
Proof.
  intros HE R R0 In Out b. apply (pure_adversaries).
  apply account_private with a; [|assumption]. intros admit Ad.
  apply (pure_valid mech decode yes no invalid (only a loss 1)); try assumption.
  - intros n. unfold only. destruct (charged a n) eqn:C; auto.
  - intros l n H. specialize (R _ (Ad l n H)). unfold within in *. apply Qle_bool_iff. rewrite prod_only.
    now apply Qle_bool_iff.
Qed.

(* The same for pure losses in advanced composition: the account counts rates of order k + 2. *)
Lemma rate_1 k : rate k 1 == 1.
Proof.
  unfold rate. assert (I : / 1 == 1) by reflexivity. induction k as [|k IH]; [cbn; rewrite I; ring|].
  cbn [chord] in *. destruct (chord 1 k) as [s t]. cbn [fst snd] in *. rewrite I in *. lra.
Qed.

(* The same for pure losses in advanced composition: the account counts rates of order k + 2. *)
Theorem sub_account_advanced a k loss R e : 1 <= R -> 0 < e ->
  (forall l, rule a l = true -> within (fun n => rate k (loss n)) R l = true) -> rule a [] = true ->
  (forall n, charged a n = true -> pure_dp (loss n) (mech n)) -> unaffected a ->
    approx_dp e (R * pow (/ e) (S k)) (filter_machine tree).
Proof.
  intros HR He Ru R0 In Out. apply account_private with a; [|assumption]. intros admit Ad.
  apply (advanced_valid mech decode yes no invalid (only a loss 1)); try assumption.
  - intros n. unfold only. destruct (charged a n) eqn:C; auto.
  - intros l n H. specialize (Ru _ (Ad l n H)). unfold within in *. apply Qle_bool_iff in Ru. apply Qle_bool_iff.
    rewrite <- prod_only in Ru. eapply Qle_trans; [|exact Ru]. apply Qle_lteq; right. clear.
    induction (l ++ [n]) as [|m l' IH]; [reflexivity|]. cbn [product_of]. apply Qmult_comp; [|exact IH].
    unfold only. destruct (charged a m); [reflexivity|apply rate_1].
Qed.

(* The admission when others launched the names "before", and only launches charged to a follow. *)
Definition alone (a : Account) (before : list Name) (l : list Name) (n : Name) : bool
  := charged a n && tree (before ++ l) n.

(* A team's bound for its own launches, when none of the earlier launches was charged to it. *)
Theorem team_alone a before E D : mine a before = [] -> valid (rule a) E D -> rule a [] = true ->
  approx_dp E D (filter_machine (alone a before)).
Proof.
  intros M V R0. pose (r l := forallb (charged a) l && rule a l).
  assert (Vr : valid r E D). { intros admit H. apply V. intros l n Ad. specialize (H l n Ad).
  now apply andb_prop in H. }
  apply (valid_kept r E D Vr R0). intros l n H Al. apply andb_prop in H, Al. destruct H as [C R], Al as [Cn T].
  apply (tree_charged a _ n Cn) in T. unfold mine in T. rewrite filter_app in T. fold (mine a before) in T.
  rewrite M in T.
  assert (L : List.filter (charged a) l = l).
  { clear - C. induction l as [|m l IH]; [reflexivity|]. cbn in *. apply andb_prop in C. destruct C as [-> C].
    now rewrite IH. }
  rewrite L in T. cbn in T. unfold r. rewrite T, forallb_app, C. cbn. now rewrite Cn.
Qed.
End Accounts.
End Tree.
