(* Every theorem and every example, file by file, and what they assume: for each list, "Closed under the global context".
   Printed by scripts/theorems. *)
From Odometry Require Auditor.
From Odometry Require Continual.
From Odometry Require Sparse.
From Odometry Require Static.
From Odometry Require DataSets.
From Odometry Require Instances.
From Odometry Require Noise.
From Odometry Require Responses.
From Odometry Require Rules.
From Odometry Require Streams.
From Odometry Require Advanced.
From Odometry Require ApproximateFilter.
From Odometry Require Filter.
From Odometry Require Gate.
From Odometry Require Nested.
From Odometry Require Odometer.
From Odometry Require OptimalApproximate.
From Odometry Require OptimalPure.
From Odometry Require Potential.
From Odometry Require PureFilter.
From Odometry Require Reduction.
From Odometry Require ReductionApproximate.
From Odometry Require RenyiFilter.
From Odometry Require Approximate.
From Odometry Require Conversions.
From Odometry Require Convex.
From Odometry Require Follower.
From Odometry Require Measure.
From Odometry Require Renyi.
From Odometry Require RenyiGroup.
From Odometry Require Response.
From Odometry Require Samplers.
From Odometry Require Machine.
From Odometry Require Players.
From Odometry Require PostProcessing.
From Odometry Require Sum.
From Odometry Require Parallel.
From Odometry Require Stability.
From Odometry Require SubAccounts.
From Odometry Require Tree.

Definition in_Auditor :=
  (@Auditor.least_bounds, @Auditor.least_attained, @Auditor.auditor, @Auditor.least_bounds_players,
  @Auditor.audited).
Print Assumptions in_Auditor.

Definition in_Continual :=
  (@Continual.continual_game, @Continual.refusing, @Continual.refusing_pure, @Continual.fewer,
  @Continual.concurrent_filter, @Continual.concurrent_renyi, @Continual.concurrent_advanced,
  @Continual.concurrent_improved, @Continual.concurrent_fixed).
Print Assumptions in_Continual.

Definition in_Sparse :=
  (@Sparse.concurrent_sparse, @Sparse.identical_free, @Sparse.concurrent_declared).
Print Assumptions in_Sparse.

Definition in_Static :=
  @Static.static_iff.
Print Assumptions in_Static.

Definition in_DataSets :=
  (@DataSets.grow_group, @DataSets.grow_attained, @DataSets.launches_private, @DataSets.launches,
  @DataSets.teams_root, @DataSets.open_teams, @DataSets.teams_sub, @DataSets.teams_play, @DataSets.split_private,
  @DataSets.split_approx, @DataSets.split_moved, @DataSets.split_several, @DataSets.split_plays,
  @DataSets.teams_sub_advanced, @DataSets.picks_private, @DataSets.picks_play, @DataSets.alone_after,
  @DataSets.rr_session, @DataSets.rr_session_renyi, @DataSets.teams_sub_any, @DataSets.group_renyi).
Print Assumptions in_DataSets.

Definition in_Instances :=
  (@Instances.rrs_odometer, @Instances.rrs_odometer_attains, @Instances.flt_basic, @Instances.eager_pure,
  @Instances.gated_rrs_pure, @Instances.gated_rrs_renyi, @Instances.gated_rrs_odometer,
  @Instances.exact_at_the_product, @Instances.exact_of_equals, @Instances.two_trials, @Instances.flt_exact_truncated,
  @Instances.echoes_responses, @Instances.flt_transferred, @Instances.doubled_pure, @Instances.echo_fewer,
  @Instances.rr_play, @Instances.leak_audited, @Instances.teams_sub_approx, @Instances.rrs_whatever,
  @Instances.alternating_group).
Print Assumptions in_Instances.

Definition in_Noise :=
  (@Noise.laplace_law, @Noise.counts_private).
Print Assumptions in_Noise.

Definition in_Responses :=
  (@Responses.flt_private, @Responses.two_leaks, @Responses.two_leaks_attained, @Responses.tossing_bound,
  @Responses.tossing_plays, @Responses.eager_private, @Responses.eager_plays, @Responses.hidden_private,
  @Responses.hiddens_private, @Responses.hiddens_attain, @Responses.tossing_audited).
Print Assumptions in_Responses.

Definition in_Rules :=
  (@Rules.rrs_renyi, @Rules.rrs_renyi_behind, @Rules.rrs_better, @Rules.flt_truncated, @Rules.shop_nested,
  @Rules.rate_closed, @Rules.rate_attained, @Rules.rr_parts, @Rules.rr_is_a_response, @Rules.rr_behind,
  @Rules.two_excess, @Rules.four_excess, @Rules.ten_excess, @Rules.twelve_excess, @Rules.shrewd_wins,
  @Rules.greedy_invalid, @Rules.greedy_invalid_machines, @Rules.rrs_optimal, @Rules.rrs_attained, @Rules.any_order,
  @Rules.responders_pair, @Rules.three_exact, @Rules.flt_exact, @Rules.flt_exact_attained, @Rules.gated_play,
  @Rules.gated_private).
Print Assumptions in_Rules.

Definition in_Streams :=
  (@Streams.echo_private, @Streams.echoes_private, @Streams.echoes_fixed, @Streams.echoes_play,
  @Streams.echoes_sparse, @Streams.echoes_sparse_play, @Streams.fragile_alone, @Streams.fragile_two,
  @Streams.echoes_declared, @Streams.growing_private, @Streams.growing_fixed, @Streams.echoes_advanced,
  @Streams.echoes_renyi, @Streams.echoes_optimal, @Streams.growing_exact, @Streams.echoes_declared_exact).
Print Assumptions in_Streams.

Definition in_Advanced :=
  (@Advanced.advanced_valid, @Advanced.advanced, @Advanced.better_of_two).
Print Assumptions in_Advanced.

Definition in_ApproximateFilter :=
  (@ApproximateFilter.improved_valid, @ApproximateFilter.improved_filter, @ApproximateFilter.basic_valid).
Print Assumptions in_ApproximateFilter.

Definition in_Filter :=
  (@Filter.law, @Filter.refused).
Print Assumptions in_Filter.

Definition in_Gate :=
  (@Gate.gated_law, @Gate.gated_valid, @Gate.gated_pure, @Gate.gated_renyi, @Gate.gated_odometer).
Print Assumptions in_Gate.

Definition in_Nested :=
  @Nested.nested.
Print Assumptions in_Nested.

Definition in_Odometer :=
  (@Odometer.odometer, @Odometer.truncated_view, @Odometer.union).
Print Assumptions in_Odometer.

Definition in_OptimalApproximate :=
  (@OptimalApproximate.trials_fixed, @OptimalApproximate.trials_optimal, @OptimalApproximate.exact_improved,
  @OptimalApproximate.exact_equal, @OptimalApproximate.optimal_delta, @OptimalApproximate.optimal_truncated,
  @OptimalApproximate.concurrent_trials, @OptimalApproximate.concurrent_exact).
Print Assumptions in_OptimalApproximate.

Definition in_OptimalPure :=
  (@OptimalPure.responses_fixed, @OptimalPure.attained, @OptimalPure.responses_optimal, @OptimalPure.product_pair,
  @OptimalPure.optimal, @OptimalPure.whatever_holds, @OptimalPure.concurrent_optimal,
  @OptimalPure.concurrent_responses, @OptimalPure.optimal_least, @OptimalPure.excess_product,
  @OptimalPure.excess_equal).
Print Assumptions in_OptimalPure.

Definition in_Potential :=
  (@Potential.descent, @Potential.potential_composition).
Print Assumptions in_Potential.

Definition in_PureFilter :=
  (@PureFilter.pure_odometer, @PureFilter.impossible, @PureFilter.pure_composition, @PureFilter.pure_filter).
Print Assumptions in_PureFilter.

Definition in_Reduction :=
  (@Reduction.reduction, @Reduction.responder_pure, @Reduction.responders_decide).
Print Assumptions in_Reduction.

Definition in_ReductionApproximate :=
  (@ReductionApproximate.pieces, @ReductionApproximate.reduction_delta, @ReductionApproximate.teller_private,
  @ReductionApproximate.tellers_decide, @ReductionApproximate.transfer).
Print Assumptions in_ReductionApproximate.

Definition in_RenyiFilter :=
  (@RenyiFilter.renyi_composition, @RenyiFilter.renyi_filter).
Print Assumptions in_RenyiFilter.

Definition in_Conversions :=
  (@Conversions.renyi_approx, @Conversions.pure_renyi).
Print Assumptions in_Conversions.

Definition in_Convex :=
  (@Convex.postprocess_bounded, @Convex.postprocess_renyi).
Print Assumptions in_Convex.

Definition in_Follower :=
  (@Follower.follower_law, @Follower.post_processing).
Print Assumptions in_Follower.

Definition in_RenyiGroup :=
  (@RenyiGroup.renyi_two, @RenyiGroup.renyi_group).
Print Assumptions in_RenyiGroup.

Definition in_Response :=
  (@Response.realised, @Response.part_lawful, @Response.two_parts, @Response.toss_law, @Response.play_law,
  @Response.response, @Response.responded_pure, @Response.response_play).
Print Assumptions in_Response.

Definition in_Samplers :=
  (@Samplers.laplace, @Samplers.laplace_near, @Samplers.noisy_pure).
Print Assumptions in_Samplers.

Definition in_Machine :=
  @Machine.pure_adversaries.
Print Assumptions in_Machine.

Definition in_Players :=
  (@Players.mixture, @Players.play_seen, @Players.mixture_play, @Players.players, @Players.pure_players).
Print Assumptions in_Players.

Definition in_PostProcessing :=
  (@PostProcessing.postprocess, @PostProcessing.postprocess_pure).
Print Assumptions in_PostProcessing.

Definition in_Parallel :=
  (@Parallel.parallel, @Parallel.parallel_pure, @Parallel.parallel_several, @Parallel.chosen).
Print Assumptions in_Parallel.

Definition in_Stability :=
  (@Stability.group_pure, @Stability.group_approx, @Stability.distance_pure, @Stability.distance_approx,
  @Stability.stable_pure, @Stability.stable_approx, @Stability.sessions_close, @Stability.sessions,
  @Stability.session_approx, @Stability.session_pure, @Stability.session_renyi, @Stability.stable_launches).
Print Assumptions in_Stability.

Definition in_SubAccounts :=
  (@SubAccounts.trials_only, @SubAccounts.sub_account_any, @SubAccounts.declared_exact).
Print Assumptions in_SubAccounts.

Definition in_Tree :=
  (@Tree.valid_kept, @Tree.account_private, @Tree.root_private, @Tree.sub_account, @Tree.sub_account_pure,
  @Tree.sub_account_advanced, @Tree.team_alone).
Print Assumptions in_Tree.
