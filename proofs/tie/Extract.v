(* The program of Model.v, in OCaml. Numbers of type nat become native integers; probabilities stay exact. *)
From Odometry Require Import Model.
From Coq Require Extraction ExtrOcamlBasic ExtrOcamlNatInt.

Extraction "tie/build/model.ml" filter_pure filter_improved tree_of game_of law_of delta_of.
