(* Exact noise from rational coins: discrete Laplace noise, clamped to 0, ..., n, by a walk that stops at the ends; no
   floating point, at most n + 1 coins. (Randomised response with a rational bias is the machine "responder" in
   filters/Reduction.v.) *)
From Odometry Require Export PureFilter RenyiFilter.
From Coq Require Import Lia Setoid.

(* The alphabet of the numbers 0, ..., n. *)
Definition number_upto (n : nat) : Type := {k : nat | Nat.leb k n = true}.

(* The number that an answer is. *)
Definition number {n} (a : number_upto n) : nat := proj1_sig a.

Lemma number_injective {n} (a b : number_upto n) : number a = number b -> a = b.
Proof.
  destruct a as [k H], b as [k' H']. cbn. intros <-. f_equal. apply (Eqdep_dec.UIP_dec bool_dec).
Qed.

Lemma clip_ok n k : Nat.leb (min k n) n = true.
Proof. apply PeanoNat.Nat.leb_le. lia. Qed.

(* The number k as an answer; numbers above n become n. *)
Definition clip (n k : nat) : number_upto n := exist _ (min k n) (clip_ok n k).

Lemma number_clip n k : (k <= n)%nat -> number (clip n k) = k.
Proof. intros H. cbn. lia. Qed.

Lemma clip_number {n} (a : number_upto n) : clip n (number a) = a.
Proof.
  apply number_injective. apply number_clip. destruct a as [k H]. cbn. now apply PeanoNat.Nat.leb_le.
Qed.

(* Equality of answers is decided by their numbers. *)
Definition same_number {n} (a b : number_upto n) : {a = b} + {a <> b}.
Proof.
  destruct (PeanoNat.Nat.eq_dec (number a) (number b)) as [E|N].
  - left. now apply number_injective.
  - right. intros E. apply N. now rewrite E.
Defined.

Lemma upto_all n (a : number_upto n) : In a (map (clip n) (seq 0 (S n))).
Proof.
  apply in_map_iff. exists (number a). split; [apply clip_number|]. apply in_seq.
  destruct a as [k H]. cbn. apply PeanoNat.Nat.leb_le in H. lia.
Qed.

Lemma upto_once n : NoDup (map (clip n) (seq 0 (S n))).
Proof.
  apply (NoDup_map_inv number). rewrite map_map. rewrite (map_ext_in _ (fun k => k)).
  - rewrite map_id. apply seq_NoDup.
  - intros k I. apply in_seq in I. apply number_clip. lia.
Qed.

(* The alphabet of the numbers 0, ..., n. *)
Canonical upto (n : nat) := Alphabet (number_upto n) same_number (map (clip n) (seq 0 (S n))) (upto_all n) (upto_once
  n).

Section Samplers.
Context (e : Q) (He : 1 < e).
(* alpha = 1 / e: the ratio of successive probabilities. *)
Definition alpha : Q := / e.
Notation eqN := PeanoNat.Nat.eq_dec.

Lemma alpha_ok : 0 < alpha < 1 /\ e * alpha == 1 /\ 0 < / (1 + alpha).
Proof.
  assert (I : e * alpha == 1) by (apply Qmult_inv_r; lra). assert (P : 0 < alpha) by (apply Qinv_lt_0_compat; lra).
  assert (alpha < 1) by nra. repeat split; try assumption. apply Qinv_lt_0_compat. lra.
Qed.

(* All probabilities of a list of outcomes, times c. *)
Definition weighted (c : Q) (l : list (Q * nat)) : list (Q * nat) := map (fun o => (c * fst o, snd o)) l.

(* The outcomes of a walk upwards from z, of at most f steps. It stops with probability 1 - alpha before every step.
   *)
Fixpoint up (f z : nat) : list (Q * nat)
  := match f with O => [(1, z)] | S f => (1 - alpha, z) :: weighted alpha (up f (S z)) end.

(* The outcomes of a walk downwards from z to 0. It stops with probability 1 - alpha before every step. *)
Fixpoint down (z : nat) : list (Q * nat)
  := match z with O => [(1, O)] | S f => (1 - alpha, z) :: weighted alpha (down f) end.

(* The noisy value of x, clamped to 0, ..., n: up from x with probability 1 / (1 + alpha), else down from x - 1. *)
Definition clamped (n x : nat) : list (Q * nat)
  := weighted (/ (1 + alpha)) (up (n - x) x) ++ weighted (alpha / (1 + alpha)) (down (pred x)).

(* The probability of the outcome z. *)
Definition mass_at (z : nat) (l : list (Q * nat)) : Q := sum (fun o => if eqN (snd o) z then fst o else 0) l.

Lemma mass_at_weighted z c l : mass_at z (weighted c l) == c * mass_at z l.
Proof. unfold mass_at, weighted. rewrite sum_map, <- sum_scale. apply sum_ext; intros o _. cbn [fst snd].
  destruct eqN; ring. Qed.

Lemma mass_at_cons z p y l : mass_at z ((p, y) :: l) == (if eqN y z then p else 0) + mass_at z l.
Proof. reflexivity. Qed.

Lemma weighted_one c l : sum fst (weighted c l) == c * sum fst l.
Proof. unfold weighted. rewrite sum_map. apply sum_scale. Qed.

Lemma weighted_pos c l : 0 <= c -> (forall o, In o l -> 0 <= fst o) -> forall o, In o (weighted c l) -> 0 <= fst o.
Proof. intros Hc H o I. apply in_map_iff in I. destruct I as [x [<- I]]. cbn. apply Qmult_le_0_compat; auto. Qed.

Lemma up_law f : (forall z, sum fst (up f z) == 1) /\ forall z o, In o (up f z) -> 0 <= fst o.
Proof.
  destruct alpha_ok as [[A A'] _]. induction f as [|f [IH IH']]; split; intros z; cbn [up sum].
  - reflexivity.
  - intros o [<-|[]]; cbn; lra.
  - rewrite weighted_one, IH. cbn [fst]. ring.
  - intros o [<-|I]; [cbn; lra|]. revert o I. apply weighted_pos; [lra|apply IH'].
Qed.

Lemma down_law z : sum fst (down z) == 1 /\ forall o, In o (down z) -> 0 <= fst o.
Proof.
  destruct alpha_ok as [[A A'] _]. induction z as [|f [IH IH']]; split; cbn [down sum].
  - reflexivity.
  - intros o [<-|[]]; cbn; lra.
  - rewrite weighted_one, IH. cbn [fst]. ring.
  - intros o [<-|I]; [cbn; lra|]. revert o I. apply weighted_pos; [lra|apply IH'].
Qed.

Lemma clamped_law n x : sum fst (clamped n x) == 1 /\ forall o, In o (clamped n x) -> 0 <= fst o.
Proof.
  destruct alpha_ok as [[A A'] [_ I]]. split.
  - unfold clamped. rewrite sum_app, !weighted_one, (proj1 (up_law _)), (proj1 (down_law _)). field. lra.
  - intros o H. apply in_app_or in H. destruct H as [H|H]; revert o H; apply weighted_pos; try apply up_law;
      try apply down_law; [lra|].
    apply Qmult_le_0_compat; lra.
Qed.

Lemma up_mass_at f : forall y z, mass_at z (up f y)
  == if Nat.ltb z y then 0 else if Nat.ltb z (y + f) then (1 - alpha) * pow alpha (z - y) else if Nat.eqb z (y + f)
  then pow alpha f else 0.
Proof.
  induction f as [|f IH]; intros y z; cbn [up]; rewrite mass_at_cons.
  - destruct (eqN y z), (Nat.ltb_spec z y), (Nat.ltb_spec z (y + 0)), (Nat.eqb_spec z (y + 0)); try lia;
      unfold mass_at; cbn; ring.
  - rewrite mass_at_weighted, IH. destruct (eqN y z), (Nat.ltb_spec z y), (Nat.ltb_spec z (S y)),
      (Nat.ltb_spec z (S y + f)), (Nat.ltb_spec z (y + S f)),
      (Nat.eqb_spec z (S y + f)), (Nat.eqb_spec z (y + S f)); try lia; try (cbn [pow]; ring).
    + subst. rewrite PeanoNat.Nat.sub_diag. cbn [pow]. ring.
    + replace (z - y)%nat with (S (z - S y)) by lia. cbn [pow]. ring.
Qed.

Lemma down_mass_at z : forall f, mass_at z (down f)
  == if Nat.ltb f z then 0 else if Nat.eqb z 0 then pow alpha f else (1 - alpha) * pow alpha (f - z).
Proof.
  induction f as [|f IH]; cbn [down]; rewrite mass_at_cons.
  - destruct (eqN 0 z), (Nat.ltb_spec 0 z), (Nat.eqb_spec z 0); try lia; unfold mass_at; cbn; ring.
  - rewrite mass_at_weighted, IH. destruct (eqN (S f) z), (Nat.ltb_spec f z), (Nat.ltb_spec (S f) z),
      (Nat.eqb_spec z 0); try lia; try (cbn [pow]; ring).
    + subst. rewrite PeanoNat.Nat.sub_diag. cbn [pow]. ring.
    + replace (S f - z)%nat with (S (f - z)) by lia. cbn [pow]. ring.
Qed.

(* The factor of outcome z: 1 at both ends, 1 - alpha between them. *)
Definition ends (n z : nat) : Q := if Nat.eqb z 0 || Nat.eqb z n then 1 else 1 - alpha.

(* The exact law of the walk: alpha^|z - x| times the factor, over 1 + alpha. That is x plus discrete Laplace noise,
   clamped to 0, ..., n. *)
Theorem laplace n x z : (0 < n)%nat -> (x <= n)%nat -> (z <= n)%nat ->
  mass_at z (clamped n x) == ends n z * pow alpha (max z x - min z x) / (1 + alpha).
Proof.
  intros Hn Hx Hz. destruct alpha_ok as [[A A'] [_ I]]. unfold clamped.
  assert (App : forall l l', mass_at z (l ++ l') == mass_at z l + mass_at z l') by (intros; apply sum_app).
  rewrite App, !mass_at_weighted, up_mass_at, down_mass_at. unfold ends.
  destruct (Nat.ltb_spec z x), (Nat.ltb_spec z (x + (n - x))), (Nat.eqb_spec z (x + (n - x))),
    (Nat.ltb_spec (pred x) z), (Nat.eqb_spec z 0), (Nat.eqb_spec z n); try lia; cbn [orb].
  all: try (replace (Nat.max z x - Nat.min z x)%nat with (S (pred x - z)) by lia; cbn [pow]; subst;
    rewrite ?PeanoNat.Nat.sub_0_r; field; lra).
  all: replace (Nat.max z x - Nat.min z x)%nat with (z - x)%nat by lia; try (subst; field; lra).
  all: try (assert (x = O) by lia; subst; cbn [pred pow Nat.sub]; field; lra).
  all: assert (E : z = n) by lia; rewrite E; field; lra.
Qed.

(* Values that differ by at most 1 are told apart by e at most. *)
Lemma pow_near d d' : (d' <= S d)%nat -> pow alpha d <= e * pow alpha d'.
Proof.
  destruct alpha_ok as [[A A'] [I _]]. assert (Less : forall i k, pow alpha (i + k) <= pow alpha k).
  { intros i k. assert (P := pow_ge_0 alpha k). induction i as [|i IH]; cbn [Nat.add pow]; [lra|].
    assert (P' := pow_ge_0 alpha (i + k)). nra. }
  intros L. setoid_replace (pow alpha d) with (e * pow alpha (S d)) by (cbn [pow]; rewrite Qmult_assoc, I; ring).
  rewrite !(Qmult_comm e). apply Qmult_le_compat_r; [|lra]. replace (S d) with (S d - d' + d')%nat by lia. apply Less.
Qed.

(* For values that differ by at most 1 the probabilities of every outcome differ by a factor of at most e. *)
Theorem laplace_near n x x' z : (0 < n)%nat -> (x <= n)%nat -> (x' <= n)%nat -> (z <= n)%nat -> (x <= S x')%nat ->
  (x' <= S x)%nat ->
  mass_at z (clamped n x) <= e * mass_at z (clamped n x').
Proof.
  intros Hn Hx Hx' Hz H H'. destruct alpha_ok as [[A A'] [_ I]]. rewrite !laplace by assumption. unfold Qdiv.
  assert (P : 0 <= ends n z) by (unfold ends; destruct (_ || _); lra).
  assert (N := pow_near (max z x - min z x) (max z x' - min z x') ltac:(lia)).
  assert (R : forall c p i p', 0 <= c -> 0 <= i -> p <= e * p' -> c * p * i <= e * (c * p' * i)).
  { intros c p i p' Hc Hi Hp. setoid_replace (c * p * i) with (p * (c * i)) by ring.
    setoid_replace (e * (c * p' * i)) with (e * p' * (c * i)) by ring.
    apply Qmult_le_compat_r; [assumption|now apply Qmult_le_0_compat]. }
  apply R; [assumption|lra|exact N].
Qed.

Lemma clamped_in n x o : (x <= n)%nat -> In o (clamped n x) -> (snd o <= n)%nat.
Proof.
  intros Hx H. assert (W : forall c l, In o (weighted c l) -> exists o', In o' l /\ snd o = snd o').
  { intros c l J. apply in_map_iff in J. destruct J as [o' [<- J]]. now exists o'. }
  assert (U : forall f y o', In o' (up f y) -> (snd o' <= y + f)%nat).
  { induction f as [|f IH]; intros y o' J; cbn [up] in J; [destruct J as [<-|[]]; cbn; lia|].
    destruct J as [<-|J]; [cbn; lia|].
    apply in_map_iff in J. destruct J as [o2 [<- J]]. apply IH in J. cbn. lia. }
  assert (D : forall f o', In o' (down f) -> (snd o' <= f)%nat).
  { induction f as [|f IH]; intros o' J; cbn [down] in J; [destruct J as [<-|[]]; cbn; lia|].
    destruct J as [<-|J]; [cbn; lia|].
    apply in_map_iff in J. destruct J as [o2 [<- J]]. apply IH in J. cbn. lia. }
  apply in_app_or in H. destruct H as [H|H]; apply W in H; destruct H as [o' [J ->]]; [apply U in J|apply D in J]; lia.
Qed.

(* The machine that releases a count x(b) with this noise. It answers once; afterwards it answers 0. *)
Section Machine.
Context {Qry : Type} (n : nat) (x : bool -> nat) (x_ok : forall b, (x b <= n)%nat).

(* One step: the clamped noise at the first question, 0 afterwards. *)
Definition noisy_step (b asked : bool) : list (Q * (upto n * bool)) :=
  if asked then [(1, (clip n 0, true))] else map (fun o => (fst o, (clip n (snd o), true))) (clamped n (x b)).

(* The machine. Its state says whether it has answered. *)
Definition noisy (b : bool) : machine Qry (upto n).
Proof.
  refine (Machine bool false (fun s _ => noisy_step b s) _ _).
  - intros s _ o H. destruct s; cbn [noisy_step] in H; [destruct H as [<-|[]]; cbn; lra|].
    apply in_map_iff in H. destruct H as [o' [<- H]]. cbn. apply (proj2 (clamped_law n (x b)) o' H).
  - intros s _. destruct s; cbn [noisy_step]; [reflexivity|]. rewrite sum_map. apply clamped_law.
Defined.

(* The probability of a transcript after the noise was released. *)
Definition noisy_later (b : bool) (t : list (Qry * upto n)) : Q := expect (noisy b) true t (fun _ => 1).

Lemma noisy_same b b' t : noisy_later b t == noisy_later b' t.
Proof.
  unfold noisy_later. induction t as [|[q a] t IH]; [reflexivity|].
  cbn [expect noisy step noisy_step sum fst snd]. destruct (same (clip n 0) a); [now rewrite IH|reflexivity].
Qed.

Lemma noisy_first b q a t :
  pr (noisy b) ((q, a) :: t) == mass_at (number a) (clamped n (x b)) * noisy_later b t.
Proof.
  unfold pr. change (start (noisy b)) with false. cbn [expect].
  change (step (noisy b) false q) with (noisy_step b false). cbn [noisy_step].
  rewrite sum_map. cbn [fst snd]. unfold mass_at. rewrite Qmult_comm, <- sum_scale.
  apply sum_ext; intros o Io. fold (noisy_later b t). apply clamped_in in Io; [|apply x_ok].
  destruct (same (clip n (snd o)) a) as [E|E], (eqN (snd o) (number a)) as [F|F]; try ring; exfalso.
  - apply F. rewrite <- E. symmetry. now apply number_clip.
  - apply E. rewrite F. apply clip_number.
Qed.

(* If the counts of the two data sets differ by at most 1, the machine is pure with loss e. *)
Theorem noisy_pure : (0 < n)%nat -> (forall b, (x b <= S (x (negb b)))%nat) -> pure_dp e noisy.
Proof.
  intros Hn H b [|[q a] t]; [unfold pr; cbn; lra|]. rewrite !noisy_first, (noisy_same (negb b) b).
  assert (P : 0 <= noisy_later b t) by (apply expect_pos; intros; lra).
  rewrite Qmult_assoc. apply Qmult_le_compat_r; [|assumption].
  apply laplace_near; auto.
  - destruct a as [k K]. cbn. now apply PeanoNat.Nat.leb_le.
  - specialize (H (negb b)). now rewrite negb_involutive in H.
Qed.
End Machine.
End Samplers.
