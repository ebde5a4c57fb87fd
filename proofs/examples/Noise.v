(* Examples: clamped discrete Laplace noise. *)
From Odometry Require Export Samplers Rules.
From Coq Require Import Lia.

(* Clamped discrete Laplace noise at e = 2 on 0..4, and the filter of two of them. *)
Example laplace_law : map (fun z => Qred (mass_at z (clamped 2 4 1))) [0; 1; 2; 3; 4; 5]%nat = [1#3; 1#3; 1#6; 1#12;
  1#12; 0]. Proof. vm_compute. reflexivity. Qed.
Lemma one_two : 1 < 2. Proof. lra. Qed.

(* The counts on two neighbouring data sets. *)
Definition count (b : bool) : nat := if b then 3%nat else 2%nat.
Lemma count_ok b : (count b <= 4)%nat. Proof. destruct b; cbn; lia. Qed.

(* The filter over two noisy counts is pure with loss 4. *)
Theorem counts_private : pure_dp 4
  (filter_machine (fun _ : unit => noisy 2 one_two (Qry := nat) 4 count) (by_rule (within (fun _ => 2) 4)) udecode
  (clip 4 1) (clip 4 0) (clip 4 0)).
Proof. apply pure_filter; [|lra]. intros _. apply (noisy_pure 2 one_two 4 count count_ok); [lia|intros [|]; cbn;
  lia]. Qed.
