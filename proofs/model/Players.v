(* Randomised adversaries. They may toss finite coins at any time, and their view contains the coins. This changes
   nothing: the best coins are fixed ones ([HSV25] Lemma 11.1). Coins have rational weights. *)
From Odometry Require Export Machine.
From Coq Require Import Lia Setoid.

(* The expectation of f(i), where i is drawn with weights w. *)
Fixpoint weigh (w : list Q) (f : nat -> Q) : Q :=
  match w with [] => 0 | p :: w => p * f O + weigh w (fun i => f (S i)) end.

(* The weights are non-negative and add up to 1. *)
Definition distribution (w : list Q) : Prop := (forall p, In p w -> 0 <= p) /\ sum (fun p => p) w == 1.

Lemma weigh_ext w : forall f g, (forall i, f i == g i) -> weigh w f == weigh w g.
Proof. induction w as [|p w IH]; intros f g H; cbn; [reflexivity|].
  rewrite (H O), (IH _ (fun i => g (S i))); [reflexivity|]. intros i; apply H. Qed.

Lemma weigh_le w : (forall p, In p w -> 0 <= p) -> forall f g, (forall i, f i <= g i) -> weigh w f <= weigh w g.
Proof.
  induction w as [|p w IH]; intros Hw f g H; cbn; [lra|]. apply Qplus_le_compat.
  - rewrite !(Qmult_comm p). apply Qmult_le_compat_r; [apply H|]. apply Hw. now left.
  - apply IH; [intros x Hx; apply Hw; now right|intros i; apply H].
Qed.

Lemma weigh_plus w : forall f g, weigh w (fun i => f i + g i) == weigh w f + weigh w g.
Proof. induction w as [|p w IH]; intros f g; cbn; [ring|]. rewrite IH. ring. Qed.

Lemma weigh_scale w c : forall f, weigh w (fun i => c * f i) == c * weigh w f.
Proof. induction w as [|p w IH]; intros f; cbn; [ring|]. rewrite IH. ring. Qed.

Lemma weigh_const w c : weigh w (fun _ => c) == sum (fun p => p) w * c.
Proof. induction w as [|p w IH]; cbn; [ring|]. rewrite IH. ring. Qed.

(* Some outcome is at least as good as the average. *)
Lemma weigh_max w : (forall p, In p w -> 0 <= p) -> forall f, {i | weigh w f <= sum (fun p => p) w * f i}.
Proof.
  induction w as [|p w IH]; intros Hw f; [exists O; cbn; lra|].
  assert (Hp : 0 <= p) by (apply Hw; now left). assert (Hw' : forall x, In x w -> 0 <= x) by (intros x Hx; apply Hw;
    now right).
  assert (Hs : 0 <= sum (fun p => p) w) by now apply sum_pos.
  destruct (IH Hw' (fun i => f (S i))) as [i Hi]. cbn.
  destruct (Qlt_le_dec (f (S i)) (f O)) as [L|L]; [exists O|exists (S i)].
  - assert (sum (fun p => p) w * f (S i) <= sum (fun p => p) w * f O) by (rewrite !(Qmult_comm (sum _ _));
      apply Qmult_le_compat_r; lra). lra.
  - assert (p * f O <= p * f (S i)) by (rewrite !(Qmult_comm p); apply Qmult_le_compat_r; lra). lra.
Qed.

Lemma le_eq_r a b c : c == b -> a <= b -> a <= c.
Proof. intros; lra. Qed.

Lemma sum_weigh {X} w (f : X -> nat -> Q) l : sum (fun x => weigh w (f x)) l
  == weigh w (fun i => sum (fun x => f x i) l).
Proof. induction l as [|x l IH]; cbn; [now rewrite weigh_const, Qmult_0_r|]. now rewrite IH, <- weigh_plus. Qed.

Section Players.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Notation answers := (every Ans).
Notation machine := (machine Qry Ans).
Notation transcript := (@transcript Qry Ans).
Notation adversary := (@adversary Qry Ans).

(* The probability that a view is in T, against an adversary that first draws a deterministic adversary with weights
   w. Its view is the draw and the transcript: so T gives a set of transcripts for each draw. *)
Definition seen_mixed (m : machine) (w : list Q) (A : nat -> adversary) (T : nat -> transcript -> bool) : Q :=
  weigh w (fun i => seen m (A i) (T i)).

(* (e, d)-privacy against deterministic adversaries is the same as against finite mixtures of them ([HSV25] Lemma
   11.1). *)
Theorem mixture e d m m' : approx e d m m' <->
  forall w A T, distribution w -> seen_mixed m w A T <= e * seen_mixed m' w A T + d.
Proof.
  split.
  - intros H w A T [Hw One]. unfold seen_mixed. apply Qle_trans with (weigh w (fun i => e * seen m' (A i) (T i) + d)).
    + apply weigh_le; [assumption|]. intros i. apply H.
    + rewrite weigh_plus, weigh_scale, weigh_const, One. lra.
  - intros H A T. specialize (H [1] (fun _ => A) (fun _ => T)). unfold seen_mixed in H. cbn in H.
    assert (D : distribution [1]) by (split; [cbn; intuition; subst; lra|reflexivity]). specialize (H D). lra.
Qed.

(* A player is an adversary that may also toss finite coins between any two questions. A leaf is reached by one view
   (coins and transcript) and accepts or not: so a player is an adversary with a set of views. *)
Inductive player := Halt (accept : bool) | Toss (w : list Q) (k : nat -> player) | Say (q : Qry) (k : Ans -> player).

(* All coins of a player have weights that are a distribution. *)
Fixpoint fair (P : player) : Prop :=
  match P with
  | Halt _ => True
  | Toss w k => distribution w /\ forall i, fair (k i)
  | Say _ k => forall a, fair (k a)
  end.

(* The probability that the player accepts, against a machine in state s. *)
Fixpoint play (m : machine) (P : player) (s : state m) : Q :=
  match P with
  | Halt x => if x then 1 else 0
  | Toss w k => weigh w (fun i => play m (k i) s)
  | Say q k => sum (fun o => fst o * play m (k (fst (snd o))) (snd (snd o))) (step m s q)
  end.

Lemma play_pos m P : fair P -> forall s, 0 <= play m P s.
Proof.
  induction P as [x|w k IH|q k IH]; intros F s; cbn in *; [destruct x; lra| |].
  - destruct F as [[Hw _] F]. apply Qle_trans with (weigh w (fun _ => 0)); [rewrite weigh_const; lra|].
    apply weigh_le; auto.
  - apply sum_pos; intros o Ho. apply Qmult_le_0_compat; [now apply (step_pos m s q)|now apply IH].
Qed.

(* A deterministic adversary and a set of transcripts are a player. *)
Fixpoint as_player (A : adversary) (T : transcript -> bool) : player :=
  match A with
  | Stop => Halt (T [])
  | Ask q k => Say q (fun a => as_player (k a) (fun t => T ((q, a) :: t)))
  end.

Lemma as_player_fair A : forall T, fair (as_player A T).
Proof. induction A as [|q k IH]; intros T; cbn; [exact I|]. intros a; apply IH. Qed.

Lemma select (x : Ans) (f : Ans -> Q) : sum (fun a => if eqA x a then f a else 0) answers == f x.
Proof.
  rewrite (sum_ext _ (fun a => if eqA x a then f x else 0)).
  - rewrite indicator by apply every_once. destruct in_dec as [|n]; [reflexivity|]. elim n; apply every_all.
  - intros a _. destruct eqA as [<-|]; reflexivity.
Qed.

Lemma play_from m A : forall T s, play m (as_player A T) s
  == sum (fun t => expect m s t (fun _ => 1)) (filter T (views A)).
Proof.
  induction A as [|q k IH]; intros T s; rewrite sum_filter; [cbn; destruct (T []); ring|].
  rewrite views_Ask. cbn [as_player play].
  rewrite (sum_ext _ (fun o => sum (fun a => if eqA (fst (snd o)) a then
    fst o * sum (fun t => if T ((q, a) :: t) then expect m (snd (snd o)) t (fun _ => 1) else 0) (views (k a))
      else 0) answers)).
  - rewrite sum_swap. apply sum_ext; intros a _.
    rewrite (sum_ext _ (fun o => sum (fun t => if T ((q, a) :: t) then
       if eqA (fst (snd o)) a then fst o * expect m (snd (snd o)) t (fun _ => 1) else 0 else 0) (views (k a)))).
    + rewrite sum_swap. apply sum_ext; intros t _. cbn [Machine.expect].
      destruct (T ((q, a) :: t)); [reflexivity|apply sum_zero].
    + intros o _. destruct eqA.
      * rewrite <- sum_scale. apply sum_ext; intros t _. destruct (T _); ring.
      * rewrite <- (sum_zero (views (k a))). apply sum_ext; intros t _. now destruct (T _).
  - intros o _. rewrite select. rewrite IH, sum_filter. reflexivity.
Qed.

(* The player of a deterministic adversary and a set T accepts with the probability that the view is in T. *)
Theorem play_seen m A T : play m (as_player A T) (start m) == seen m A T.
Proof. apply play_from. Qed.

(* Drawing first, and then playing, accepts with the mixture's probability. *)
Theorem mixture_play m w A T : play m (Toss w (fun i => as_player (A i) (T i))) (start m) == seen_mixed m w A T.
Proof. apply weigh_ext. intros i. apply play_seen. Qed.

(* The probability that the history is h, and then the player accepts. *)
Definition then_play m h P : Q := expect m (start m) h (play m P).

Lemma then_Halt m h x : then_play m h (Halt x) == if x then pr m h else 0.
Proof.
  unfold then_play. destruct x; cbn [play]; [reflexivity|].
  induction h as [|[q a] h IH] using rev_ind; [reflexivity|]. rewrite expect_snoc. etransitivity; [|exact IH].
  apply expect_ext; intros s. cbn [play]. rewrite (sum_ext _ (fun _ => 0)); [apply sum_zero|]. intros o _.
  destruct eqA; ring.
Qed.

Lemma then_Toss m h w k : then_play m h (Toss w k) == weigh w (fun i => then_play m h (k i)).
Proof.
  unfold then_play. cbn [play]. generalize (start m).
  induction h as [|[q a] h IH]; intros s; cbn [Machine.expect]; [reflexivity|].
  rewrite <- sum_weigh. apply sum_ext; intros o _. destruct eqA.
  - rewrite IH. symmetry. apply weigh_scale.
  - now rewrite weigh_const, Qmult_0_r.
Qed.

Lemma then_Say m h q k : then_play m h (Say q k) == sum (fun a => then_play m (h ++ [(q, a)]) (k a)) answers.
Proof.
  unfold then_play. rewrite (sum_ext _ (fun a => expect m (start m) h (fun s =>
    sum (fun o => if eqA (fst (snd o)) a then fst o * play m (k a) (snd (snd o)) else 0) (step m s q)))).
  2: { intros a _. apply expect_snoc. }
  rewrite expect_sum. apply expect_ext; intros s. cbn [play]. rewrite sum_swap. apply sum_ext; intros o _.
  symmetry. exact (select (fst (snd o)) (fun a => fst o * play m (k a) (snd (snd o)))).
Qed.

(* A is a deterministic adversary that results from player P when each of its coins is fixed. *)
Fixpoint fixes (P : player) (A : adversary) : Prop :=
  match P, A with
  | Halt _, Stop => True
  | Toss _ k, A => exists i, fixes (k i) A
  | Say q k, Ask q' k' => q = q' /\ forall a, fixes (k a) (k' a)
  | _, _ => False
  end.

(* For every player there is a deterministic adversary, with its coins fixed, and a set of transcripts, that tell the
   machines apart as well. *)
Lemma derandomised e m m' P : fair P ->
  forall h, {A & {T | fixes P A /\
  then_play m h P - e * then_play m' h P
  <= sum (fun t => pr m (h ++ t) - e * pr m' (h ++ t)) (filter T (views A))}}.
Proof.
  induction P as [x|w k IH|q k IH]; intros F h.
  - exists Stop, (fun _ => x). split; [exact I|]. rewrite !then_Halt. cbn. destruct x; cbn; rewrite ?app_nil_r; lra.
  - destruct F as [[Hw One] F].
    destruct (weigh_max w Hw (fun i => then_play m h (k i) - e * then_play m' h (k i))) as [i Hi].
    destruct (IH i (F i) h) as [A [T [Fx H]]]. exists A, T. split; [now exists i|]. eapply Qle_trans; [|exact H].
    rewrite !then_Toss.
    rewrite One, Qmult_1_l in Hi. eapply Qle_trans; [|exact Hi].
    assert (E : weigh w (fun i => then_play m h (k i) - e * then_play m' h (k i))
      == weigh w (fun i => then_play m h (k i) + (- e) * then_play m' h (k i))) by (apply weigh_ext; intros; ring).
    rewrite E, weigh_plus, weigh_scale. lra.
  - cbn in F. exists (Ask q (fun a => projT1 (IH a (F a) (h ++ [(q, a)])))),
      (fun t => match t with [] => false | (_, a) :: t => proj1_sig (projT2 (IH a (F a) (h ++ [(q, a)]))) t end).
    split; [split; [reflexivity|]; intros a; apply (proj2_sig (projT2 (IH a (F a) (h ++ [(q, a)]))))|].
    rewrite sum_filter. eapply le_eq_r; [apply views_Ask|]. rewrite !then_Say. unfold Qminus at 1.
    setoid_replace (- (e * sum (fun a => then_play m' (h ++ [(q, a)]) (k a)) answers))
      with (sum (fun a => (- e) * then_play m' (h ++ [(q, a)]) (k a)) answers) by (rewrite sum_scale; ring).
    rewrite <- sum_plus. apply sum_le; intros a _. destruct (IH a (F a) (h ++ [(q, a)])) as [A [T [Fx H]]].
    cbn [projT1 projT2 proj1_sig].
    apply Qle_trans with (then_play m (h ++ [(q, a)]) (k a) - e * then_play m' (h ++ [(q, a)]) (k a)); [lra|].
    eapply Qle_trans; [exact H|]. rewrite sum_filter. apply Qle_lteq; right. apply sum_ext; intros t _.
    destruct (T t); [|reflexivity]. now rewrite <- snoc_app.
Qed.

Lemma derandomised_seen e m m' P : fair P -> {A & {T | fixes P A /\
  play m P (start m) - e * play m' P (start m') <= seen m A T - e * seen m' A T}}.
Proof.
  intros F. destruct (derandomised e m m' P F []) as [A [T [Fx H]]]. exists A, T. split; [assumption|].
  unfold then_play in H. cbn [Machine.expect app] in H. eapply Qle_trans; [exact H|]. unfold Machine.seen.
  apply Qle_lteq; right.
  generalize (filter T (views A)). intros l. induction l as [|t l IH]; cbn; [ring|]. rewrite IH. ring.
Qed.

(* (e, d)-privacy against deterministic adversaries is the same as (e, d)-privacy against players with coins ([HSV25]
   Cor 11.2, for finite adversaries). *)
Theorem players e d m m' : approx e d m m' <->
  forall P, fair P -> play m P (start m) <= e * play m' P (start m') + d.
Proof.
  split.
  - intros H P F. destruct (derandomised_seen e m m' P F) as [A [T [_ HA]]]. specialize (H A T). lra.
  - intros H A T. rewrite <- !play_seen. apply H, as_player_fair.
Qed.

(* Pure privacy is the same as the bound e for the acceptance of every player. *)
Theorem pure_players e m m' : pure e m m' <-> forall P, fair P -> play m P (start m) <= e * play m' P (start m').
Proof.
  rewrite (pure_adversaries), players.
  split; intros H P F; specialize (H P F); lra.
Qed.
End Players.
Arguments player : clear implicits.
