(* Prints cases for the tests of the crates: random finite machines, rules, caps and messages, and the exact law or the
   exact delta by the extracted model. Usage: cases SEED FOLDER FILTERS SESSIONS GAMES AUDITS. The lines are described in
   cases.rs, which reads them. *)
open Model

(* Numbers. *)
let rec pos n = if n = 1 then XH else if n land 1 = 1 then XI (pos (n / 2)) else XO (pos (n / 2))
let ratio a b = { qnum = (if a = 0 then Z0 else Zpos (pos a)); qden = pos b }
let power_of_two n = ratio (1 lsl n) 1

(* Numerators and denominators may pass 2^62: decimal text by doubling. *)
let double text carry =
  let digits = Bytes.of_string text in
  let carry = ref carry in
  for i = Bytes.length digits - 1 downto 0 do
    let d = 2 * (Char.code (Bytes.get digits i) - 48) + !carry in
    Bytes.set digits i (Char.chr (48 + d mod 10));
    carry := d / 10
  done;
  if !carry > 0 then string_of_int !carry ^ Bytes.to_string digits else Bytes.to_string digits

let rec text_of_pos = function XH -> "1" | XO p -> double (text_of_pos p) 0 | XI p -> double (text_of_pos p) 1
let text_of_z = function Z0 -> "0" | Zpos p -> text_of_pos p | Zneg p -> "-" ^ text_of_pos p
let text q = match q.qden with XH -> text_of_z q.qnum | den -> text_of_z q.qnum ^ "/" ^ text_of_pos den

(* Tables: a hexadecimal digit for each outcome, 4 * (weight - 1) + 2 * answer + next state; three outcomes in a row. *)
let rows n = Array.init n (fun _ -> Array.init 3 (fun _ -> Random.int 16))

(* Of half of the tables the two data sets differ in the weights only. *)
let pair_of_rows () =
  let rows = rows 8 in
  if Random.bool () then
    for i = 0 to 3 do rows.(4 + i) <- Array.map (fun d -> (d land 3) lor (4 * Random.int 4)) rows.(i) done;
  rows
let outcome d = { parts_of = pos (d / 4 + 1); says = d land 2 > 0; goes = d land 1 > 0 }
let row digits = (outcome digits.(0), [ outcome digits.(1); outcome digits.(2) ])
let bit b = if b then 1 else 0
let table rows data state question = row rows.((bit data * 4) + (bit state * 2) + bit question)
let stream_table rows _ state question = row rows.((bit state * 2) + bit question)
let hex rows = String.concat "" (List.map (fun r -> String.concat "" (List.map (Printf.sprintf "%x") (Array.to_list r))) (Array.to_list rows))

let letter = function Bit false -> '0' | Bit true -> '1' | Yes -> 'y' | No -> 'n' | Invalid -> 'x'
let replies = [ Bit false; Bit true; Yes; No; Invalid ]

(* A message for each step: one if the last answer was true, and one if not. *)
let messages depth draw = List.init depth (fun i -> let a = draw i in if Random.int 3 = 0 then (a, draw i) else (a, a))
let print_messages out show steps =
  output_string out "c";
  List.iter (fun (a, b) -> output_string out (if a = b then " " ^ show a else " " ^ show a ^ ":" ^ show b)) steps;
  output_char out '\n'

(* All transcripts that are possible on one of the two data sets, with both probabilities. *)
let print_law out machine steps =
  let machines = [ machine false; machine true ] in
  let rec go steps transcript last =
    let laws = List.map (fun m -> law_of m (List.rev transcript)) machines in
    if List.exists (fun q -> q.qnum <> Z0) laws then
      match steps with
      | [] ->
          let answers = String.init (List.length transcript) (fun i -> letter (snd (List.nth (List.rev transcript) i))) in
          Printf.fprintf out "l %s %s\n" answers (String.concat " " (List.map text laws))
      | (no, yes) :: steps ->
          let message = if last = Bit true then yes else no in
          List.iter (fun reply -> go steps ((message, reply) :: transcript) reply) replies in
  go steps [] Invalid

let show = function
  | Start n -> Printf.sprintf "L%d" n
  | Put (j, q) -> Printf.sprintf "A%d%d" j (bit q)
  | _ -> "X"

let request kinds i =
  match Random.int 8 with
  | 0 when Random.int 3 = 0 -> Unknown
  | 1 | 2 | 3 | 4 | 5 when i > 1 -> Put (Random.int (if i < 4 then 2 else 4), Random.bool ())
  | _ -> Start (Random.int kinds)

let filter out =
  let improved = Random.int 3 = 0 and kinds = 2 + Random.int 2 and budget = 1 + Random.int 4 in
  let tenths = if improved then [| 5; 15; 25; 35 |].(Random.int 4) else 0 in
  Printf.fprintf out "f %c %d %d\n" (if improved then 'i' else 'p') budget tenths;
  let machines = Array.init kinds (fun _ ->
    let cost = [| 0; 1; 1; 2 |].(Random.int 4) and delta = if improved then Random.int 3 else 0 and rows = pair_of_rows () in
    Printf.fprintf out "m %d %d %s\n" cost delta (hex rows);
    (cost, delta, rows)) in
  let tables n = let _, _, rows = machines.(n) in table rows
  and loss n = let cost, _, _ = machines.(n) in power_of_two cost
  and delta n = let _, delta, _ = machines.(n) in ratio delta 10 in
  let steps = messages (5 + Random.int 3) (request kinds) in
  print_messages out show steps;
  let budget = power_of_two budget in
  print_law out (if improved then filter_improved tables loss delta budget (ratio tenths 100) else filter_pure tables loss budget) steps

(* Places. Of a tree: the root, team 1, team 2, a sub-team of team 1. Of parts: all data, part 1, part 2, an account in
   part 1. *)
let session out =
  let parts = Random.int 2 = 0 and changed = 1 + Random.int 2 and kinds = 3 + Random.int 2 in
  let caps = Array.init 4 (fun i -> if i = 0 then 2 + Random.int 5 else 1 + Random.int 4) in
  if parts then begin caps.(1) <- caps.(0); caps.(2) <- caps.(0) end;
  Printf.fprintf out "s %c %d %d %d %d %d\n" (if parts then 'p' else 't') changed caps.(0) caps.(1) caps.(2) caps.(3);
  let names = Array.init kinds (fun _ ->
    let cost = [| 0; 1; 1; 2 |].(Random.int 4) and place = Random.int 4 and factor = 1 + (Random.int 3 / 2) in
    let flip = factor = 2 && Random.bool () and rows = pair_of_rows () in
    Printf.fprintf out "m %d %d %d %d %s\n" cost place factor (bit flip) (hex rows);
    (cost, place, factor, flip, rows)) in
  let place n = let _, place, _, _, _ = names.(n) in place in
  let path n =
    match (parts, place n) with
    | false, 0 -> [ 0 ] | false, 3 -> [ 3; 1; 0 ] | false, team -> [ team; 0 ]
    | true, 0 -> [ 1; 2 ] | true, 3 -> [ 3; 1 ] | true, part -> [ part ] in
  let sees n b =
    let part = match place n with 0 -> changed | 3 -> 1 | part -> part in
    let _, _, _, flip, _ = names.(n) in
    (if parts && part <> changed then true else b) <> flip in
  let machine =
    tree_of
      (fun n -> let _, _, _, _, rows = names.(n) in table rows) sees
      (fun n -> let cost, _, _, _, _ = names.(n) in power_of_two cost)
      (fun n -> let _, _, factor, _, _ = names.(n) in factor)
      path (fun account -> power_of_two caps.(account)) in
  let steps = messages (5 + Random.int 3) (request kinds) in
  print_messages out show steps;
  print_law out machine steps

let show_pair = function
  | Start n, Start n' when n = n' -> Printf.sprintf "C%d" n
  | Start n, Start n' -> Printf.sprintf "D%d%d" n n'
  | Put (j, q), Put (j', q') when j = j' -> Printf.sprintf "A%d%d%d" j (bit q) (bit q')
  | Put (j, q), Put (j', _) -> Printf.sprintf "B%d%d%d" j j' (bit q)
  | _ -> assert false

let pair kinds i =
  match if i = 0 then 2 else Random.int 24 with
  | 0 when i > 2 -> (Start 0, Start 1)
  | 1 when i > 2 -> let q = Random.bool () in (Put (0, q), Put (1, q))
  | 0 | 1 | 2 | 3 | 4 -> let n = Random.int kinds in (Start n, Start n)
  | n ->
      let j = if i < 2 || n < 20 then 0 else 1 and q = Random.bool () in
      (Put (j, q), Put (j, if n mod 2 = 0 then not q else q))

let game out =
  let again = Random.bool () and most = 1 + Random.int 4 and budget = 1 + Random.int 3 and kinds = 2 in
  Printf.fprintf out "g %d %d %d\n" (bit again) most budget;
  let machines = Array.init kinds (fun _ ->
    let cost = [| 0; 1; 1; 2 |].(Random.int 4) and rows = rows 4 in
    Printf.fprintf out "m %d %s\n" cost (hex rows);
    (cost, rows)) in
  let steps = messages (4 + Random.int 3) (pair kinds) in
  print_messages out show_pair steps;
  print_law out
    (game_of again (fun n -> stream_table (snd machines.(n))) most (fun n -> power_of_two (fst machines.(n))) (power_of_two budget))
    steps

(* A machine alone (without a budget), or a filter over two. *)
let audit out =
  let alone = Random.int 5 > 0 in
  let depth = if alone then 2 + Random.int 3 else 3 and budget = 1 + Random.int 3 in
  Printf.fprintf out "a %d %d\n" depth (if alone then 0 else budget);
  let machines = Array.init (if alone then 1 else 2) (fun _ ->
    let cost = [| 0; 1; 1; 2 |].(Random.int 4) and rows = pair_of_rows () in
    Printf.fprintf out "m %d %s\n" cost (hex rows);
    (cost, rows)) in
  let pair =
    if alone then fun b -> table_machine (table (snd machines.(0))) b
    else filter_pure (fun n -> table (snd machines.(n))) (fun n -> power_of_two (fst machines.(n))) (power_of_two budget) in
  let queries =
    if alone then [ Question false; Question true ]
    else [ Start 0; Start 1; Put (0, false); Put (0, true); Put (1, false) ] in
  List.iter (fun (a, b) ->
    let deltas = List.map (fun d -> text (delta_of (ratio a b) queries depth (pair d) (pair (not d)))) [ false; true ] in
    Printf.fprintf out "d %d %d %s\n" a b (String.concat " " deltas))
    [ (1, 1); (4, 3); (2, 1); (9, 1) ]

let () =
  let number i = int_of_string Sys.argv.(i) in
  let write name count print =
    let out = open_out (Filename.concat Sys.argv.(2) (name ^ ".txt")) in
    Printf.fprintf out "# seed %d\n" (number 1);
    for _ = 1 to count do print out done;
    close_out out in
  Random.init (number 1);
  write "filters" (number 3) filter;
  write "sessions" (number 4) session;
  write "games" (number 5) game;
  write "audits" (number 6) audit
