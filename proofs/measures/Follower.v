(* Response.v with a person in the middle: every pair of pure machines has the law of a person in the middle, with
   memory and coins, who never sees the secret, in front of a machine that gives one randomised response. *)
From Odometry Require Export Reduction PostProcessing.
From Coq Require Import Lia Setoid.

Section Behind.
Context {Qry : Type} {Ans : alphabet}.
Notation eqA := (@same Ans).
Context (N : bool -> machine Qry Ans) (a0 : Ans).
Notation query := (unit + nat)%type.
(* The follower's memory: nothing yet, or the response and the state of the machine N c. *)
Definition memo : Type := option {c : bool & state (N c)}.

(* The plan that draws one of the outcomes of a step of N c. *)
Definition draw (c : bool) (l : list (Q * (Ans * state (N c)))) : @plan Ans query bool memo :=
  Coin (map fst l) (fun i => match nth_error l i
    with Some o => Answer (fst (snd o)) (Some (existT _ c (snd (snd o)))) | None => Answer a0 None end).

(* The plan for a question: at the first one ask for the response; then act as N c. *)
Definition replay (s : memo) (q : Qry) : @plan Ans query bool memo :=
  match s with
  | None => Call (inr O) (fun c => draw c (step (N c) (start (N c)) q))
  | Some (existT _ c s) => draw c (step (N c) s q)
  end.

Lemma draw_fair c s q : fair_plan (draw c (step (N c) s q)).
Proof.
  cbn. split; [split|].
  - intros p H. apply in_map_iff in H. destruct H as [o [<- H]]. now apply (step_pos (N c) s q).
  - rewrite sum_map. apply step_one.
  - intros i. destruct nth_error; exact I.
Qed.

Lemma replay_fair s q : fair_plan (replay s q).
Proof. destruct s as [[c s]|]; [apply draw_fair|]. intros c. apply draw_fair. Qed.

(* The person in the middle that asks for the response when it is first asked, and then is N c. *)
Definition follower : @middle Qry Ans query bool := Middle memo None replay replay_fair.

Lemma weigh_nth {X} (l : list (Q * X)) : forall G : option (Q * X) ->
  Q, weigh (map fst l) (fun i => G (nth_error l i)) == sum (fun o => fst o * G (Some o)) l.
Proof. induction l as [|o l IH]; intros G; cbn; [reflexivity|]. now rewrite (IH G). Qed.

Lemma run_draw (R : machine query bool) c l r (F : Ans * (memo * state R) -> Q) :
  sum (fun o => fst o * F (snd o)) (run R (draw c l) r)
    == sum (fun o => fst o * F (fst (snd o), (Some (existT _ c (snd (snd o))), r))) l.
Proof.
  unfold draw. cbn [run]. rewrite sum_mixed.
  pose (G (x : option (Q * (Ans * state (N c))))
    := F match x with Some o => (fst (snd o), (Some (existT (fun c => state (N c)) c (snd (snd o))),
    r)) | None => (a0, (None, r)) end).
  rewrite (weigh_ext _ _ (fun i => G (nth_error l i))); [now rewrite weigh_nth|]. intros i. unfold G.
  destruct nth_error; cbn [run sum fst snd]; rewrite Qmult_1_l, Qplus_0_r; reflexivity.
Qed.

Lemma if_times (x a : Ans) (p y : Q) : (if eqA x a then p * y else 0) == p * (if eqA x a then y else 0).
Proof. destruct eqA; ring. Qed.

Lemma follow (R : machine query bool) c t : forall s r, expect (behind follower R) (Some (existT _ c s),
  r) t (fun _ => 1) == expect (N c) s t (fun _ => 1).
Proof.
  induction t as [|[q a] t IH]; intros s r; [reflexivity|]. cbn [expect].
  change (step (behind follower R) (Some (existT _ c s), r) q) with (run R (draw c (step (N c) s q)) r).
  pose (F (x : Ans * (memo * state R)) := if eqA (fst x) a then expect (behind follower R) (snd x) t (fun _ => 1)
    else 0).
  transitivity (sum (fun o => fst o * F (snd o)) (run R (draw c (step (N c) s q)) r)); [apply sum_ext; intros o _;
    apply if_times|].
  rewrite run_draw. apply sum_ext; intros o _. unfold F. cbn [fst snd]. destruct eqA; [now rewrite IH|ring].
Qed.

(* The law of randomised response behind the follower is the mixture of N true and N false with the odds. *)
Theorem follower_law e (He : unit -> 1 <= e) b t : pr (behind follower (responder (fun _ => e) He tt b)) t
  == odds e b true * pr (N true) t + odds e b false * pr (N false) t.
Proof.
  set (R := responder (fun _ => e) He tt b). destruct t as [|[q a] t].
  - unfold pr. cbn [expect]. assert (O := odds_one e b true (He tt)). cbn [negb] in O. lra.
  - unfold pr at 1. cbn [expect]. change (step (behind follower R) (start (behind follower R)) q) with
      (run R (Call (inr O) (fun c => draw c (step (N c) (start (N c)) q))) false).
    pose (F (x : Ans * (memo * state R))
      := if eqA (fst x) a then expect (behind follower R) (snd x) t (fun _ => 1) else 0).
    transitivity (sum (fun o => fst o * F (snd o)) (run R (Call (inr O) (fun c => draw c (step (N c) (start (N c))
      q))) false)); [apply sum_ext; intros o _; apply if_times|].
    assert (Half : forall c, sum (fun o => fst o * F (snd o)) (run R (draw c (step (N c) (start (N c)) q)) true)
      == pr (N c) ((q, a) :: t)).
    { intros c. rewrite run_draw. unfold pr. cbn [expect]. apply sum_ext; intros o _. unfold F. cbn [fst snd].
      destruct eqA; [now rewrite follow|ring]. }
    cbn [run]. change (step R false (inr O)) with (responder_step e b false). cbn [responder_step flat_map fst snd].
    rewrite app_nil_r, sum_app, !sum_scaled, !Half. reflexivity.
Qed.
End Behind.

(* Every pure pair of machines has the law of one randomised response behind a person in the middle who never sees the
   secret ([VW21] Thm 1.10; [HSV25] Lemma 4.7, pure). *)
Theorem post_processing {Qry : Type} {Ans : alphabet} (a0 : Ans) e (He : unit -> 1 <= e)
  (M : bool -> machine Qry Ans) : pure_dp e M ->
  {P : @middle Qry Ans (unit + nat) bits | forall b t,
    pr (M b) t == pr (behind P (responder (fun _ => e) He tt b)) t}.
Proof.
  intros H. destruct (response e M H) as [N HN]. exists (follower N a0). intros b t.
  rewrite follower_law, (HN (He tt)). now apply responded_law.
Qed.
