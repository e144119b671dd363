"""
What RoleBasedGroup has to prove, and the tests that do: promises to users, upstream's test cases.

Upstream's suites drive its controller from outside; each case that does not need a real kubelet or
upstream's own chart is here, with tests of ours. The suites of v1alpha1 are those of v1alpha2 for
groups that arrive through conversion, so a row serves both.
"""

import re

import pytest
from source_files import ROOT

PROMISES = {
    "an image changes in place, and pods keep uid and node": (
        "test_promise_an_upgrade_in_place_keeps_uid_address_and_node",
    ),
    "A is updated before B": ("test_promise_one_role_is_updated_before_another",),
    "A:B = 2:1 while scaling and upgrading": (
        "test_promise_two_to_one_is_kept_while_scaling_and_upgrading",
    ),
    "autoscaling of a role without drift": (
        "test_promise_autoscaling_of_a_role_changes_no_other_field",
    ),
    "roles start after those they depend on": (
        "test_promise_roles_start_after_those_that_they_depend_on",
    ),
    "an instance on many nodes restarts whole": (
        "test_promise_a_failed_pod_restarts_its_whole_instance_and_no_other",
    ),
    "gangs": ("test_promise_a_gang_is_placed_whole_or_not_at_all",),
    "exclusive topology": ("test_promise_an_exclusive_group_has_its_rack_to_itself",),
    "revisions and rollback": ("test_promise_a_revision_can_be_had_again",),
}

SUITES = {
    "deploy, sts: replicas and template": ("test_replicas_and_template_follow_the_role",),
    "deploy, sts: rolling update": ("test_what_others_carry_rolls_within_the_budget_of_the_role",),
    "lws: engine runtime": ("test_a_profile_reaches_leaders_and_not_workers",),
    "lws: replicas, template, leader and worker templates": (
        "test_replicas_and_templates_of_leaders_and_workers_follow",
    ),
    "lws: rolling update": ("test_groups_roll_one_after_another",),
    "rbg: workloads of several kinds come and go": (
        "test_a_role_is_carried_by_the_kind_that_it_names",
        "test_roles_of_four_kinds_come_and_go_in_one_group",
        "test_a_group_of_four_kinds_goes_whole",
        "test_a_role_that_changes_its_kind_leaves_nothing_behind",
        "test_it_goes_whole",
    ),
    "rbg: dependency": ("test_a_role_begins_when_the_one_that_it_depends_on_is_ready",),
    "rbg: engine runtime": ("test_defect_21_an_edit_rolls_pods_where_the_profile_says_so",),
    "rbg: orphan roles": (
        "test_a_role_that_is_wanted_no_more_goes",
        "test_roles_of_four_kinds_come_and_go_in_one_group",
    ),
    "rbg: coordinated update with single replicas": (
        "test_rbg_roles_of_one_replica_are_updated_though_a_skew_bounds_them",
        "test_single_replicas_are_updated_under_a_skew",
    ),
    "rbg: gang of scheduler-plugins": (
        "test_scheduler_plugins_are_the_default_where_no_scheduler_is_named",
    ),
    "rbg: gang of Volcano": (
        "test_all_pods_of_all_roles_are_one_gang_of_instances",
        "test_promise_a_gang_is_placed_whole_or_not_at_all",
    ),
    "rbg: exclusive topology": ("test_promise_an_exclusive_group_has_its_rack_to_itself",),
    "rbgs: create, delete": ("test_create_and_delete",),
    "rbgs: scaling": ("test_scaling",),
    "rbgs: exclusive topology": ("test_exclusive_topology",),
    "revision: drift that fails equality is overridden": (
        "test_revision_a_set_that_another_client_edits_is_put_back",
        "test_revision_a_template_that_another_client_edits_is_put_back",
    ),
    "revision: a spec that changes once is one revision": (
        "test_a_new_image_rolls_all_roles_that_refer_and_is_one_revision",
    ),
    "revision: edits of a workload that mean the same": (
        "test_what_the_server_writes_otherwise_is_no_difference",
        "test_revision_an_edit_of_a_set_that_means_the_same_is_left_alone",
    ),
    "roletemplate: create": ("test_a_patch_of_a_role_stands_over_the_shared_template",),
    "roletemplate: update rolls and is a revision": (
        "test_a_new_image_rolls_all_roles_that_refer_and_is_one_revision",
    ),
    "roletemplate: mixed mode": ("test_a_role_with_its_own_template_stands_beside_them",),
    "roletemplate: rollback": ("test_a_shared_template_goes_back_with_its_group",),
    "scaling_adapter: with adapter": ("test_an_adapter_is_bound_and_selects_the_pods_of_its_role",),
    "scaling_adapter: role deleted, adapter turned off": (
        "test_an_adapter_goes_when_its_role_wants_none",
    ),
    "scaling_adapter: new role": ("test_a_role_that_is_added_gets_its_adapter",),
    "scaling_adapter: scale": ("test_what_an_autoscaler_asks_for_reaches_the_group_and_its_pods",),
    "component_ordering: start": ("test_a_component_starts_when_all_that_it_names_are_ready",),
    "component_ordering: deleteAfter": ("test_a_component_shrinks_after_those_that_it_names",),
    "convergence: rapid updates": ("test_convergence_rapid_successive_updates_end_on_the_last",),
    "convergence: scaling in a rollout": (
        "test_convergence_a_role_is_scaled_in_the_middle_of_its_rollout",
    ),
    "coordinated_policy: skew of one": ("test_a_skew_of_one_bounds_the_gap_of_an_update",),
    "coordinated_policy: partition 2 to 0": (
        "test_coordinated_policy_a_partition_goes_from_two_to_none",
    ),
    "coordinated_policy: scaling, OrderReady": (
        "test_roles_grow_in_step",
        "test_roles_grow_again_when_what_they_have_is_as_far_as_asked",
    ),
    "inactive_pod: evicted pod": ("test_a_standalone_pod_that_failed_is_replaced",),
    "inactive_pod: failed pod": ("test_a_failed_pod_takes_its_instance_along_and_no_other",),
    "inactive_pod: ignored component": (
        "test_a_component_that_restarts_ignore_is_made_anew_alone",
    ),
    "inactive_pod: other component": ("test_a_component_beside_it_still_takes_the_instance_along",),
    "inactive_pod: None": ("test_without_a_policy_a_failed_pod_is_made_anew_alone",),
    "inactive_pod: no cascade while Restarting": (
        "test_inactive_pod_a_second_failure_during_a_restart_counts_no_second_one",
    ),
    "inplace_scheduling: by pod": (
        "test_defect_22_a_pod_returns_to_its_node_after_a_restart_of_the_operator",
    ),
    "inplace_scheduling: by component": (
        "test_components_stay_on_nodes_of_their_own_over_an_upgrade",
        "test_a_component_returns_to_any_node_of_its_own",
    ),
    "inplace_scheduling: avoid, preferred": (
        "test_avoided_nodes_are_left_where_others_are_allowed",
    ),
    "inplace_scheduling: avoid, required": (
        "test_a_required_node_to_avoid_leaves_the_pod_pending",
    ),
    "port_allocator": ("test_ports_stand_on_instances_and_sets_by_upstreams_keys",),
    "restart_policy_fields": ("test_restart_policy_fields",),
    "restart_policy_stability: one instance": (
        "test_a_failed_pod_takes_its_instance_along_and_no_other",
    ),
    "restart_policy_stability: None": ("test_without_a_policy_a_failed_pod_is_made_anew_alone",),
    "restart_policy_stability: back-off": ("test_the_second_restart_waits",),
    "restart_policy_stability: config": (
        "test_restart_config_reaches_sets_and_instances_and_no_pod_is_made_anew",
    ),
    "restart_policy_stability: update in a back-off": (
        "test_restart_policy_stability_an_update_does_not_wait_for_a_back_off",
    ),
    "ris: surge": ("test_ris_a_surge_keeps_all_instances_ready",),
    "ris: surge and maxUnavailable": (
        "test_ris_surge_and_budget_together_keep_the_least_number_ready",
    ),
    "ris: large surge": ("test_ris_a_large_surge_makes_no_more_than_are_needed",),
    "ris: partition": ("test_ris_a_partition_that_is_lowered_lets_the_rollout_go_on",),
    "shared_service_selection": ("test_shared_service_selection_goes_there_and_back",),
    "stability: update of one role": ("test_stability_the_update_of_one_role_touches_no_other",),
    "stability: scale of one role": ("test_a_role_grows_and_shrinks_and_no_other_pod_is_touched",),
    "update_strategy: in place": ("test_promise_an_upgrade_in_place_keeps_uid_address_and_node",),
    "update_strategy: other changes": ("test_other_changes_make_new_pods_in_the_same_instances",),
    "update_strategy: no false restart": (
        "test_an_update_of_images_is_no_restart_by_a_policy_of_restarts",
    ),
    "update_strategy: paused": ("test_update_strategy_a_paused_rollout_waits_until_it_is_resumed",),
    "warmup: nodes": ("test_target_nodes",),
    "warmup: roles merged": ("test_target_group_with_actions_of_roles_merged",),
    "warmup: TTL": ("test_ttl_after_finished",),
    "warmup: timeout": ("test_global_timeout",),
    "warmup: retries": ("test_retry_limit_of_a_node",),
    "warmup: no nodes": ("test_no_nodes_match",),
    "webhook_validation: dot": ("test_webhook_validation_a_name_with_a_dot_is_refused",),
    "webhook_validation: replicas with adapter": (
        "test_replicas_that_an_adapter_holds_are_not_changed_in_the_group",
    ),
    "in process: child Deployment": ("test_a_role_is_carried_by_the_kind_that_it_names",),
    "in process: shared service": ("test_shared_service_selection_goes_there_and_back",),
}

RESTARTS = {
    "chain": (
        "test_a_failed_pod_takes_its_instance_along_and_no_other",
        "test_the_second_restart_waits",
    ),
    "single pod": ("test_a_standalone_pod_that_failed_is_replaced",),
    "all pods of all components": ("test_a_component_beside_it_still_takes_the_instance_along",),
    "Restarting is set": ("test_restart_sets_the_condition_and_readiness_clears_it",),
    "Restarting is cleared": ("test_restart_sets_the_condition_and_readiness_clears_it",),
    "Ignore": ("test_a_component_that_restarts_ignore_is_made_anew_alone",),
    "None": ("test_without_a_policy_a_failed_pod_is_made_anew_alone",),
    "deprecated field of components": (
        "test_a_component_beside_it_still_takes_the_instance_along",
    ),
    "restartCount above 0": ("test_restart_follows_a_container_that_started_again_on_its_node",),
    "first creation": ("test_a_crash_before_an_instance_was_ready_takes_nothing_down",),
    "roles apart": ("test_restart_follows_a_container_that_started_again_on_its_node",),
    "no double trigger": (
        "test_inactive_pod_a_second_failure_during_a_restart_counts_no_second_one",
    ),
    "restarts are counted": ("test_the_instance_stays_and_counts_its_restarts",),
    "back-off": ("test_the_second_restart_waits",),
    "propagation": ("test_restart_config_reaches_sets_and_instances_and_no_pod_is_made_anew",),
    "reset": ("test_restart_counts_from_nothing_after_a_long_time_without_one",),
    "bypass is bounded": ("test_restart_waits_again_after_an_update_that_did_not_wait",),
    "no freeze": ("test_restart_policy_stability_an_update_does_not_wait_for_a_back_off",),
}

FOLDERS = ("operator/rolebasedgroup", "apis/rolebasedgroup")
HELD = {
    name
    for folder in FOLDERS
    for path in (ROOT / "tests" / folder).glob("test_*.py")
    for name in re.findall(r"def (test_\w+)\(", path.read_text())
}


@pytest.mark.parametrize(
    "rows", [PROMISES, SUITES, RESTARTS], ids=["promises", "suites", "restarts"]
)
def test_each_case_has_a_test(rows: dict[str, tuple[str, ...]]):
    assert {case: set(named) - HELD for case, named in rows.items() if set(named) - HELD} == {}
    assert all(rows.values())


def test_no_promise_and_no_restart_case_is_left_out():
    assert (len(PROMISES), len(RESTARTS)) == (9, 18)
    promised = {name for named in PROMISES.values() for name in named}
    assert promised == {name for name in HELD if name.startswith("test_promise_")}
