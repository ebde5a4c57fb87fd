(* Parallel composition of pure continual mechanisms ([HSV25] Cor 5.5): any number of mechanisms is created, with any
   losses, and a mechanism that gets identical pairs only costs nothing. It is enough that the product of the losses
   of the others is within budget; which those are may be chosen adaptively. For delta above 0 this is false ([HSV25]
   Thm 5.2; computed in examples/Streams.v). The paper's price is optimal composition of k fixed parameters; here it
   is the product. *)
From Odometry Require Export Continual.
From Coq Require Import Lia Setoid.

Section Sparse.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Context (eqQ : forall a b : Qry, {a = b} + {a <> b}).
Context (halt : Ans) {Name : Type} (eqName : forall a b : Name, {a = b} + {a <> b}).
Context (cm : Name -> machine Qry Ans) (f : Name -> list (Qry * Qry) -> bool) (loss : Name -> Q).
Context (claims : forall n, pure_dp (loss n) (wrapped halt false (f n) (cm n))).
Context (decode : Qry -> command Name Qry) (yes no invalid : Ans).
Notation message := (Qry * Qry)%type.
Notation mechs := (fun n => wrapped halt true (f n) (cm n)).
Notation any := (fun (_ : list Name) (_ : Name) => true).
Notation filter2 := (filter_machine mechs any (decode2 eqName decode) yes no invalid).
Notation account := (account any (decode2 eqName decode) yes no invalid).
Notation checks := (checks eqName f decode any).

(* Both messages of the pair are the same. *)
Definition identical (w : message) : bool := if eqQ (fst w) (snd w) then true else false.

(* The product of the losses of the mechanisms that got a differing pair. *)
Fixpoint touched (acc : list (Name * list message)) : Q :=
  match acc with [] => 1 | (n, h) :: acc => (if forallb identical h then 1 else loss n) * touched acc end.

(* The sequence is suitable, and the mechanisms that got a differing pair are within the budget E ([HSV25] Def 5.1).
   *)
Definition sparse (E : Q) (h : list message) : bool :=
  match checks [] h with Some acc => Qle_bool (touched acc) E | None => false end.

Lemma claims_true n : pure_dp (loss n) (mechs n).
Proof. apply (refusing_pure); auto. Qed.

Lemma loss_1 n : 1 <= loss n.
Proof. exact (loss_ge_1 mechs loss claims_true n). Qed.

(* A mechanism that got identical pairs does not depend on the bit. *)
Lemma identical_same n b t : forallb identical (map fst t) = true -> pr (mechs n b) t == pr (mechs n (negb b)) t.
Proof.
  intros H. enough (G : forall s, expect (mechs n b) s t (fun _ => 1) == expect (mechs n (negb b)) s t (fun _ => 1)).
  { exact (G (start (mechs n b))). }
  revert H. induction t as [|[[q q'] a] t IH]; intros H s; [reflexivity|]. cbn in H. apply andb_prop in H.
  destruct H as [I H].
  unfold identical in I. cbn in I. destruct (eqQ q q') as [<-|]; [|discriminate]. specialize (IH H). cbn [expect].
  assert (S : step (mechs n b) s (q, q) = step (mechs n (negb b)) s (q, q)).
  { destruct s as [[h|] [u s]]; cbn; [destruct (f n (h ++ [(q, q)]))|]; destruct b; reflexivity. }
  rewrite S. apply sum_ext; intros o _. destruct eqA; [apply Qmult_comp; [reflexivity|apply IH]|reflexivity].
Qed.

(* The filter's account and the checker's agree. *)
Notation strip acc := (map (fun c : Name * list (message * Ans) => (fst c, map fst (snd c))) acc).

Lemma deliver_extend w a acc : forall j acc2, deliver f j w (strip acc) = Some acc2 ->
  exists acc', extend j (w, a) acc = Some acc' /\ strip acc' = acc2.
Proof.
  induction acc as [|[n h] acc IH]; intros [|j] acc2 D; cbn in D; try discriminate.
  - destruct (f n (map fst h ++ [w])); [|discriminate]. injection D as <-. eexists; split; [reflexivity|]. cbn.
    now rewrite map_app.
  - destruct (deliver f j w (strip acc)) as [acc3|] eqn:E; [|discriminate]. injection D as <-.
    destruct (IH j acc3 E) as [acc' [X <-]]. cbn. rewrite X. eexists; split; reflexivity.
Qed.

Lemma accounts_agree t : forall acc acc2, account [] t = Some acc -> checks [] (map fst t) = Some acc2 ->
  acc2 = strip acc.
Proof.
  induction t as [|[w a] t IH] using rev_ind; intros acc acc2 A C; [injection A as <-; now injection C as <-|].
  rewrite map_app in C. cbn [map fst] in C. rewrite checks_snoc in C. rewrite account_app in A.
  destruct (account [] t) as [acc0|]; [|discriminate]. destruct (checks [] (map fst t)) as [acc1|]; [|discriminate].
  specialize (IH _ _ eq_refl eq_refl). subst acc1. rewrite account_one in A. unfold log in A. unfold check in C.
  destruct (decode2 eqName decode w) as [n|j w'|]; [| |discriminate].
  - unfold when in A. destruct eqA; [|discriminate]. injection A as <-. injection C as <-. now rewrite map_app.
  - destruct (deliver_extend w' a _ _ _ C) as [acc' [X <-]]. rewrite X in A. now injection A as <-.
Qed.

Lemma weights acc b : weight mechs b acc <= touched (strip acc) * weight mechs (negb b) acc.
Proof.
  induction acc as [|[n h] acc IH]; [cbn; lra|]. unfold weight in *. cbn [product map touched fst snd] in *.
  set (x := product _ acc) in *. set (y := product (fun c => pr (mechs (fst c) (negb b)) (snd c)) acc) in *.
  assert (X : 0 <= x) by (apply product_pos; intros; apply pr_pos).
  set (c := if forallb identical (map fst h) then 1 else loss n).
  apply Qle_trans with (c * pr (mechs n (negb b)) h * (touched (strip acc) * y)); [|lra].
  apply qmult_le; [apply pr_pos|assumption| |assumption]. unfold c. destruct (forallb identical (map fst h)) eqn:I.
  - rewrite (identical_same n b h I). lra.
  - apply claims_true.
Qed.

Lemma histories E b t : sparse E (map fst t) = true -> pr (filter2 b) t <= E * pr (filter2 (negb b)) t.
Proof.
  unfold sparse. destruct (checks [] (map fst t)) as [acc2|] eqn:C; [|discriminate]. intros H. apply Qle_bool_iff in H.
  assert (P := pr_pos (filter2 (negb b)) t). rewrite (law mechs any) in *. rewrite (law mechs any) in *.
  destruct (account [] t) as [acc|] eqn:A; [|lra]. assert (W := weights acc b).
  rewrite <- (accounts_agree t acc acc2 A C) in W.
  eapply Qle_trans; [exact W|]. now apply Qmult_le_compat_r.
Qed.

Lemma legal_histories E b P : forall h, (h = [] \/ sparse E (map fst h) = true) -> 1 <= E -> fair P ->
  legal (sparse E) (map fst h) P ->
  then_play (filter2 b) h P <= E * then_play (filter2 (negb b)) h P.
Proof.
  induction P as [x|w k IH|w k IH]; intros h Hh HE F L.
  - rewrite !then_Halt. destruct x; [|lra]. destruct Hh as [->|Hh]; [unfold pr; cbn; lra|now apply histories].
  - destruct F as [[Hw _] F]. rewrite !then_Toss, <- weigh_scale. apply weigh_le; [assumption|]. intros i.
    apply IH; [assumption|assumption|apply F|apply L].
  - destruct L as [Es L]. cbn in F. rewrite !(then_Say), <- sum_scale.
    apply sum_le; intros a _. apply IH; [right|assumption|apply F|]; rewrite map_app; [exact Es|apply L].
Qed.

(* Parallel composition of pure continual mechanisms: any number is created, and only those that got a differing pair
   are charged ([HSV25] Cor 5.5 with the product as bound). *)
Theorem concurrent_sparse E : 1 <= E -> continual_private halt (sparse E) E 0 (ext_con_comp cm decode yes no invalid).
Proof.
  intros HE. apply continual_game; try assumption. intros P F L b. unfold game.
  assert (L' : legal (suitable eqName f decode any) [] P).
  { revert L. apply legal_more. intros h. unfold sparse, suitable. now destruct (checks [] h). }
  assert (S := fun b => same_game halt eqName cm f decode yes no invalid any b P [] [] eq_refl L').
  cbn [of_ecc of_filter map] in S. cbn [start ext_con_comp filter_machine]. rewrite (S b), (S (negb b)).
  assert (H := legal_histories E b P [] (or_introl eq_refl) HE F L).
  rewrite Qplus_0_r. exact H.
Qed.
End Sparse.

(* With deltas: it is enough to say at creation which mechanisms will get identical pairs only. They cost nothing, in
   e and in delta; the others are charged, whatever their verification functions. (Thm 5.14 of the paper has the first
   pair say so: "first-pair consistent"; and optimal composition.) *)
Section Declared.
Context {Qry : Type} {Ans : alphabet}.
Context (eqQ : forall a b : Qry, {a = b} + {a <> b}).
Context (halt : Ans).
Notation message := (Qry * Qry)%type.

Lemma identical_game (m : machine Qry Ans) b (P : player message Ans) : forall h,
  legal (forallb (identical eqQ)) h P -> forall s,
  play m (through (identifier b) P tt) s == play m (through (identifier (negb b)) P tt) s.
Proof.
  induction P as [x|w k IH|[q q'] k IH]; intros h L s; cbn [through play]; [reflexivity|apply weigh_ext; intros i;
    now apply (IH i h)|].
  destruct L as [E L]. rewrite forallb_app in E. apply andb_prop in E. destruct E as [_ E]. cbn in E.
  apply andb_prop in E. destruct E as [E _].
  unfold identical in E. cbn in E. destruct (eqQ q q') as [<-|]; [|discriminate].
  cbn [act identifier graft play]. replace (side (negb b) (q, q)) with (side b (q, q)) by now destruct b.
  apply sum_ext; intros o _. apply Qmult_comp; [reflexivity|]. now apply (IH _ (h ++ [(q, q)])).
Qed.

(* Every mechanism is (1, 0)-private with respect to "all pairs are identical". *)
Theorem identical_free m : continual_private halt (forallb (identical eqQ)) 1 0 m.
Proof. apply continual_game; try assumption. intros P F L b. unfold game. rewrite (identical_game m b P [] L). lra. Qed.

Context {Name : Type} (eqName : forall a b : Name * bool, {a = b} + {a <> b}).
Context (cm : Name -> machine Qry Ans) (f : Name -> list message -> bool) (loss delta : Name -> Q).
Context (loss_ok : forall n, 1 <= loss n) (delta_ok : forall n, 0 <= delta n < 1).
Context (claims : forall n, continual_private halt (f n) (loss n) (delta n) (cm n)).

(* The verification function of a name that says whether its mechanism may get differing pairs. *)
Definition may (n : Name * bool) : list message -> bool := if snd n then f (fst n) else forallb (identical eqQ).

(* Its loss: none if it may not. *)
Definition may_loss (n : Name * bool) : Q := if snd n then loss (fst n) else 1.

(* Its delta: none if it may not. *)
Definition may_delta (n : Name * bool) : Q := if snd n then delta (fst n) else 0.

(* Any number of mechanisms that may get identical pairs only, and others, charged by the improved basic rule. A name
   says at creation which kind it is ([HSV25] Thm 5.14 has the first pair decide: not proved here). *)
Theorem concurrent_declared (decode : Qry -> command (Name * bool) Qry) yes no invalid E D : 1 <= E -> 0 <= D ->
  continual_private halt (suitable eqName may decode (by_rule (improved may_loss may_delta E D))) E D
    (ext_con_comp (fun n => cm (fst n)) decode yes no invalid).
Proof.
  apply (concurrent_improved halt eqName (fun n => cm (fst n)) may may_loss may_delta).
  - intros [n [|]]; cbn; [apply loss_ok|unfold may_loss; cbn; lra].
  - intros [n [|]]; unfold may_delta; cbn; [apply delta_ok|lra].
  - intros [n [|]]; [apply claims|apply identical_free].
Qed.
End Declared.
