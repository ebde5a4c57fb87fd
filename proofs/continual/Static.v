(* Interactive mechanisms as continual ones ([HSV25], section 3): the first message is the data set, later ones are
   questions. Privacy on neighbouring data sets is privacy with respect to "the first pair are neighbours, later pairs
   are identical". So the theorems about continual mechanisms apply to interactive ones, with neighbours that are
   chosen adaptively. *)
From Odometry Require Export Continual Stability.
From Coq Require Import Lia Setoid.

Section Static.
Context {Qry : Type} {Ans : alphabet}.
Context (eqQ : forall a b : Qry, {a = b} + {a <> b}).
Context (halt : Ans).
Context {Data : Type} (near : Data -> Data -> bool) (M : Data -> machine Qry Ans) (ack invalid : Ans).
Notation letter := (Data + Qry)%type.
Notation message := (letter * letter)%type.

(* The first message is the data set; later messages are questions. Anything else is invalid and changes nothing. *)
Definition static_step (s : option {x : Data & state (M x)}) (w : letter) : list (Q * (Ans * option {x : Data & state
  (M x)})) :=
  match s, w with
  | None, inl x => [(1, (ack, Some (existT _ x (start (M x)))))]
  | Some (existT _ x s), inr q => map (fun o => (fst o, (fst (snd o),
    Some (existT _ x (snd (snd o)))))) (step (M x) s q)
  | s, _ => [(1, (invalid, s))]
  end.

(* An interactive mechanism as a continual one. *)
Definition as_cm : machine letter Ans.
Proof.
  refine (Machine (option {x : Data & state (M x)}) None static_step _ _).
  - intros [[x s]|] [y|q] o; cbn; try (intros [<-|[]]; cbn; lra). intros H. apply in_map_iff in H.
    destruct H as [o' [<- H]].
    now apply (step_pos (M x) s q).
  - intros [[x s]|] [y|q]; try reflexivity. cbn. rewrite sum_map. apply step_one.
Defined.

(* Both messages of the pair are the same question. *)
Definition same_question (w : message) : bool :=
  match w with (inr q, inr q') => if eqQ q q' then true else false | _ => false end.

(* The first pair are neighbouring data sets, and later pairs are identical questions. *)
Definition static (h : list message) : bool :=
  match h with [] => true | (inl x, inl y) :: h => near x y && forallb same_question h | _ => false end.

(* A player against the continual mechanism, after the first message, as a player against the interactive one. *)
Fixpoint strip (P : player message Ans) : player Qry Ans :=
  match P with
  | Halt x => Halt x
  | Toss w k => Toss w (fun i => strip (k i))
  | Say (inr q, _) k => Say q (fun a => strip (k a))
  | Say _ _ => Halt false
  end.

Lemma strip_fair P : fair P -> fair (strip P).
Proof.
  induction P as [x|w k IH|[[x|q] w'] k IH]; intros F; cbn in *; try exact I; [split; [apply F|intros i;
    now apply IH]|].
  intros a. now apply IH.
Qed.

Lemma strip_play b z P : forall w h, legal static (w :: h) P -> forall s,
  play as_cm (through (identifier b) P tt) (Some (existT _ z s)) == play (M z) (strip P) s.
Proof.
  induction P as [x|ws k IH|v k IH]; intros w h L s; cbn [through strip play]; [reflexivity|apply weigh_ext;
    intros i; eapply IH, L|].
  destruct L as [E L]. cbn [app] in E. assert (S : same_question v = true).
  { destruct w as [[x|q] [y|q']]; cbn in E; try discriminate. apply andb_prop in E. destruct E as [_ E].
    rewrite forallb_app in E. apply andb_prop in E. destruct E as [_ E]. cbn in E. now apply andb_prop in E. }
  destruct v as [[x|q] [y|q']]; try discriminate. cbn in S. destruct (eqQ q q') as [<-|]; [|discriminate].
  cbn [act identifier graft play]. replace (side b (inr q, inr q)) with (@inr Data Qry q) by now destruct b.
  cbn [step as_cm static_step]. rewrite sum_map. apply sum_ext; intros o _. cbn [fst snd].
  apply Qmult_comp; [reflexivity|].
  apply (IH _ w (h ++ [(inr q, inr q)])). exact (L (fst (snd o))).
Qed.

Lemma first_message b x y k : legal static [(inl x, inl y)] (k ack) ->
  play as_cm (through (identifier b) (Say (inl x, inl y) k) tt) None
  == play (M (if b then y else x)) (strip (k ack)) (start (M (if b then y else x))).
Proof.
  intros L. rewrite <- (strip_play b _ (k ack) (inl x, inl y) [] L). destruct b; cbn; ring.
Qed.

(* A player against the interactive mechanism, as one against the continual one. *)
Fixpoint lift (P : player Qry Ans) : player message Ans :=
  match P with
  | Halt x => Halt x
  | Toss w k => Toss w (fun i => lift (k i))
  | Say q k => Say (inr q, inr q) (fun a => lift (k a))
  end.

Lemma lift_fair P : fair P -> fair (lift P).
Proof. induction P as [x|w k IH|q k IH]; intros F; cbn in *; [exact I|split; [apply F|intros i;
  now apply IH]|intros a; now apply IH]. Qed.

Lemma lift_legal x y P : near x y = true -> forall h, forallb same_question h = true ->
  legal static ((inl x, inl y) :: h) (lift P).
Proof.
  intros N. induction P as [v|w k IH|q k IH]; intros h H; cbn; [exact I|intros i; now apply IH|].
  assert (H' : forallb same_question (h ++ [(inr q, inr q)]) = true).
  { rewrite forallb_app, H. cbn. destruct (eqQ q q); [reflexivity|congruence]. }
  rewrite N, H'. split; [reflexivity|]. intros a. now apply IH.
Qed.

Lemma lift_strip m P : forall s, play m (strip (lift P)) s == play m P s.
Proof. induction P as [x|w k IH|q k IH]; intros s; cbn; [reflexivity|apply weigh_ext; intros; apply IH|].
  apply sum_ext; intros o _. now rewrite IH. Qed.

(* Privacy of an interactive mechanism on neighbouring data sets is the same as privacy of the continual mechanism
   with respect to "static". *)
Theorem static_iff e d : 1 <= e -> 0 <= d ->
  (private (fun x y => near x y = true) (approx e d) M <-> continual_private halt static e d as_cm).
Proof.
  intros He Hd. unfold continual_private. rewrite (continual_game halt false). split.
  - intros H P. induction P as [x|w k IH|v k IH]; intros F L b; unfold game in *; cbn [start as_cm].
    + cbn. destruct x; lra.
    + cbn [through play]. destruct F as [[Hw One] F].
      apply Qle_trans with (weigh w (fun i => e * play as_cm (through (identifier (negb b)) (k i) tt) None + d)).
      * apply weigh_le; [assumption|]. intros i. apply (IH i (F i) (L i) b).
      * rewrite weigh_plus, weigh_scale, weigh_const, One. lra.
    + destruct L as [E L]. cbn in E. destruct v as [[x|q] [y|q']]; try discriminate. apply andb_prop in E.
      destruct E as [N _].
      rewrite !first_message by apply L. assert (K
        := proj1 (players e d _ _) (H x y N (negb b)) (strip (k ack)) (strip_fair _ (F ack))).
      destruct b; exact K.
  - intros H x y N b. apply players; try assumption. intros P F.
    assert (Lg : legal static [] (Say (inl x, inl y) (fun _ => lift P))).
    { split; [cbn; now rewrite N|]. intros _. now apply lift_legal. }
    assert (Fr : fair (Say (inl x, inl y) (fun _ : Ans => lift P))) by (intros _; now apply lift_fair).
    specialize (H _ Fr Lg (negb b)). unfold game in H. cbn [start as_cm] in H.
    rewrite !first_message in H by (now apply lift_legal). rewrite !lift_strip in H. destruct b; exact H.
Qed.
End Static.
