"""
Upstream's own cases, and the tests of ours that stand for them.

End to end: all but those that need a kubelet with real images, a chart or a ModelBooster. Unit
tests: those that say something of behaviour. The names on the left are upstream's words.
"""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
CASES = "operator/modelserving/test_upstream_serving_cases.py"
UNITS = "operator/modelserving/test_upstream_serving_units.py"
RULES = "apis/modelserving/test_serving_"

END_TO_END = {
    "Lifecycle": (CASES, "test_lifecycle"),
    "ScaleUp": (CASES, "test_scale_up_and_scale_down"),
    "ScaleDown": (CASES, "test_scale_up_and_scale_down"),
    "RoleScaleUp": (CASES, "test_role_scale_up_and_role_scale_down"),
    "RoleScaleDown": (CASES, "test_role_scale_up_and_role_scale_down"),
    "ServingGroupRecreate": (CASES, "test_serving_group_recreate"),
    "HeadlessServiceDeleteOnServingGroupDelete": (
        CASES,
        "test_headless_services_go_with_their_group",
    ),
    "PodRecovery": (CASES, "test_pod_recovery"),
    "ServiceRecovery": (CASES, "test_service_recovery"),
    "WithDuplicateHostAliases": (CASES, "test_duplicate_host_aliases_reach_the_pods"),
    "RollingUpdateMaxUnavailable": (CASES, "test_rolling_update_max_unavailable"),
    "RollingUpdateMaxUnavailableWithBadImage": (CASES, "test_rolling_update_max_unavailable"),
    "RoleStatusEvents": (CASES, "test_role_status_events"),
    "LWSAPIBasic": ("operator/bridges/test_carried_sets.py", "test_lws_api_basic"),
    "PartitionBoundaryProtection": (CASES, "test_partition_boundary_protection"),
    "PartitionDeletedGroupHistoricalRevision": (
        CASES,
        "test_partition_deleted_group_historical_revision",
    ),
    "PartitionScaleUp": (CASES, "test_partition_scale_up"),
    "PartitionScaleDown": (CASES, "test_partition_scale_down"),
    "RollingUpdate": (CASES, "test_rolling_update"),
    "ControllerManagerRestart": (CASES, "test_controller_manager_restart"),
    "RoleBasedRollingUpdate": (CASES, "test_role_based_rolling_update"),
    "RoleRollingUpdateMaxUnavailable": (CASES, "test_role_rolling_update_max_unavailable"),
    "RoleRollingUpdatePartition": (CASES, "test_role_rolling_update_partition"),
    "RolePartitionScaleUp": (CASES, "test_role_partition_scale_up"),
    "RolePartitionScaleDown": (CASES, "test_role_partition_scale_down"),
    "BinPackScaleDownServingGroup": (CASES, "test_bin_pack_scale_down_of_groups"),
    "BinPackScaleDownRole": (CASES, "test_bin_pack_scale_down_of_roles"),
    "BinPackScaleDownCombined": (CASES, "test_bin_pack_scale_down_of_both"),
    "StatusAwarePriorityScaleDownServingGroup": (CASES, "test_what_does_not_serve_goes_first"),
    "StatusAwarePriorityScaleDownRole": (CASES, "test_what_does_not_serve_goes_first"),
    "Webhook: negative replicas": (CASES, "test_negative_replicas_are_refused"),
}
_VALIDATION = (f"{RULES}validation.py", "test_what_upstream_refuses_is_refused_in_its_words")
UNIT_TESTS = {
    "validators: name, replicas, rollout, gang, workers, role name, recovery": _VALIDATION,
    "missing ordinals": ("planning/test_scale.py", "test_missing_ordinals_are_the_lowest"),
    "scale up below a partition": (CASES, "test_partition_scale_up"),
    "template of an old revision": (CASES, "test_partition_deleted_group_historical_revision"),
    "a ControllerRevision that fails stops": (
        UNITS,
        "test_nothing_is_made_from_a_revision_that_could_not_be_stored",
    ),
    "scale down by priority, cost and partition": (
        "planning/test_scale.py",
        "test_who_goes_is_chosen_by_readiness_then_cost_then_ordinal",
    ),
    "the same of roles": (CASES, "test_role_partition_scale_down"),
    "roles that are being deleted are skipped": (
        "planning/test_scale.py",
        "test_one_that_leaves_is_not_counted_again",
    ),
    "selector of the status": (f"{RULES}status.py", "test_the_selector_is_upstreams"),
    "revisions of the status": (f"{RULES}status.py", "test_the_current_revision_is_the_golden_one"),
    "readiness of groups": (
        f"{RULES}status.py",
        "test_defect_8_a_group_is_ready_when_all_its_instances_are",
    ),
    "outdated groups": (f"{RULES}adoption.py", "test_a_role_that_is_gone_is_not_current"),
    "deleted groups": (
        "operator/modelserving/test_serving_defects.py",
        "test_defect_10_a_leaving_group_is_not_made_again_before_it_is_gone",
    ),
    "a start with failed, restarted and mixed pods": (
        UNITS,
        "test_an_operator_that_starts_finds_what_failed_before",
    ),
    "the grace timer and a replacement pod": (
        UNITS,
        "test_a_pod_made_in_place_of_a_failed_one_is_not_held_to_account",
    ),
    "the status after a delete that failed": (
        UNITS,
        "test_a_delete_that_failed_is_tried_again_and_counts_as_nothing",
    ),
    "rolling updates of roles": (
        "planning/test_line_budget.py",
        "test_the_golden_rollouts_of_roles",
    ),
    "pods without a role hash": (
        f"{RULES}adoption.py",
        "test_a_pod_without_a_hash_is_compared_by_its_revision_and_left_alone_if_that_is_unknown",
    ),
    "PodGroups: requirements": (f"{RULES}gangs.py", "test_fewer_instances_of_a_role_may_be_enough"),
    "PodGroups: aggregation": (f"{RULES}gangs.py", "test_requests_are_summed_without_rounding"),
    "PodGroups: queue and topology": (
        f"{RULES}gangs.py",
        "test_the_gang_has_the_queue_and_both_topologies",
    ),
    "PodGroups: the CRD is added": (
        UNITS,
        "test_pod_groups_come_when_their_kind_is_served_and_are_done_without_before",
    ),
    "PodGroups: the CRD is deleted": (
        UNITS,
        "test_pods_come_back_after_the_kind_of_pod_groups_was_taken_away",
    ),
    "plugins: order": (
        f"{RULES}plugins.py",
        "test_plugins_run_in_the_order_of_the_list_and_see_what_others_did",
    ),
    "plugins: scope": (f"{RULES}plugins.py", "test_a_plugin_is_called_for_pods_in_scope"),
    "plugins: error": (
        f"{RULES}plugins.py",
        "test_defect_14_a_plugin_that_raises_is_a_failure_that_names_it",
    ),
    "plugins: type": (f"{RULES}plugins.py", "test_another_type_than_built_in_is_a_failure"),
    "the demo plugin": (f"{RULES}plugins.py", "test_the_demo_plugin_sets_what_its_config_names"),
    "revisions are stable": (f"{RULES}revisions.py", "test_the_order_of_keys_makes_no_revision"),
    "hashing changes nothing": (f"{RULES}revisions.py", "test_hashing_changes_nothing"),
    "a ControllerRevision is made": (
        f"{RULES}revisions.py",
        "test_a_revision_is_stored_as_upstream_stores_it",
    ),
    "a ControllerRevision is read": (
        f"{RULES}revisions.py",
        "test_a_stored_revision_is_read_wrapped_and_bare",
    ),
    "ControllerRevisions are cleaned up": (UNITS, "test_old_revisions_are_forgotten_but_for_ten"),
    "a LeaderWorkerSet's defaults": (
        "apis/bridges/test_conversion_table.py",
        "test_row_scheduler_name_is_the_cluster_s_own_by_default",
    ),
    "a LeaderWorkerSet's size, and size 1": (
        "apis/bridges/test_conversion_table.py",
        "test_row_size_is_workers_and_the_leader",
    ),
    "a LeaderWorkerSet's templates": (
        "apis/bridges/test_conversion_table.py",
        "test_row_templates_leader_and_worker",
    ),
    "a LeaderWorkerSet's metadata": (
        "apis/bridges/test_conversion_table.py",
        "test_row_metadata_is_kept_without_keys_of_leaderworkerset",
    ),
}


@pytest.mark.parametrize("table", [END_TO_END, UNIT_TESTS], ids=["end to end", "unit tests"])
def test_every_case_of_upstream_has_a_test_of_ours(table: dict[str, tuple[str, str]]):
    texts = {path: (TESTS / path).read_text() for path, _ in table.values()}
    lost = [case for case, (path, t) in table.items() if not re.search(rf"def {t}\(", texts[path])]
    assert lost == []
