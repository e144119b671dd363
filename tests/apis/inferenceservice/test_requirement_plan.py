"""The test plan of the workload strategy layer, entry by entry, and the tests that hold each."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
HERE = "apis/inferenceservice"
LIVE = "operator/inferenceservice/services"
PLAN: dict[str, dict[str, tuple[str, ...]]] = {
    "manager: registration": {
        f"{HERE}/test_workload_manager.py": (
            "test_strategies_are_listed_in_the_order_of_registration",
            "test_strategies_without_a_unique_name_are_not_registered",
        )
    },
    "manager: selection": {
        f"{HERE}/test_workload_manager.py": (
            "test_the_first_that_applies_is_validated_and_taken",
            "test_one_that_does_not_apply_is_passed_over_without_validation",
            "test_role_based_groups_come_before_the_default",
        )
    },
    "manager: errors": {
        f"{HERE}/test_workload_manager.py": (
            "test_without_a_registered_strategy_selection_fails",
            "test_incompatible_modes_are_an_error_and_no_other_strategy_is_tried",
            "test_where_no_strategy_applies_the_error_names_those_that_were_tried",
        )
    },
    "single component: applicability, modes, compatibility": {
        f"{HERE}/test_single_component_strategy.py": (
            "test_it_is_for_every_service_that_does_not_ask_for_a_group",
            "test_all_modes_of_an_engine_are_supported",
            "test_other_modes_are_refused_with_what_is_supported",
            "test_a_raw_engine_is_a_deployment_and_what_belongs_to_it",
        )
    },
    "RBG strategy: applicability, modes, extraction": {
        f"{HERE}/test_rbg_strategy.py": (
            "test_it_is_only_for_services_that_ask_for_a_group",
            "test_raw_and_multi_node_components_are_supported",
            "test_other_modes_are_refused",
            "test_the_configurations_of_all_components_are_extracted",
            "test_a_group_has_autoscalers_budgets_services_and_access",
        )
    },
    "RBG reconciler: creation": {
        f"{HERE}/test_rbg_reconciler.py": (
            "test_a_group_is_made_with_the_name_of_its_service",
            "test_roles_come_in_the_order_engine_decoder_router",
        )
    },
    "RBG reconciler: update keeps replicas": {
        f"{HERE}/test_rbg_reconciler.py": (
            "test_an_update_keeps_the_replicas_that_the_autoscaler_set",
        )
    },
    "RBG reconciler: errors": {
        f"{HERE}/test_rbg_reconciler.py": (
            "test_a_component_that_cannot_be_extracted_stops_the_plan",
        ),
        f"{LIVE}/test_service_recovery.py": ("test_a_phase_that_failed_is_done_later",),
    },
    "role builder: RawDeployment, MultiNode, labels and annotations": {
        f"{HERE}/test_role_builder.py": (
            "test_a_raw_component_is_a_standalone_role",
            "test_a_multi_node_component_is_a_leader_with_workers",
            "test_leaders_bear_the_labels_that_routers_select_and_workers_do_not",
            "test_annotations_that_concern_other_objects_are_not_on_pods",
        )
    },
    "extraction: interface, completeness, errors": {
        f"{HERE}/test_component_config_extractor.py": (
            "test_every_component_answers_all_five_questions",
            "test_asking_twice_gives_the_same_answer_and_changes_nothing",
            "test_a_component_without_any_container_says_what_is_missing",
        )
    },
    "integration: selection": {
        f"{HERE}/test_strategy_integration.py": (
            "test_without_an_annotation_components_are_deployed_apart",
            "test_with_the_annotation_they_are_one_group",
            "test_modes_that_a_group_cannot_have_are_an_error",
        )
    },
    "integration: engine; engine + decoder; engine + router; all three": {
        f"{HERE}/test_strategy_integration.py": ("test_a_group_has_the_roles_of_its_service",),
        f"{LIVE}/test_service_life.py": ("test_three_components_are_ready_in_both_strategies",),
    },
    "integration: replicas kept under an autoscaler": {
        f"{HERE}/test_strategy_integration.py": (
            "test_replicas_are_the_users_first_and_the_autoscalers_then",
        ),
        f"{HERE}/test_rbg_strategy.py": ("test_an_autoscaler_scales_the_adapter_of_its_role",),
    },
    "integration: backward compatibility": {
        f"{HERE}/test_strategy_integration.py": (
            "test_what_has_its_name_under_one_strategy_has_it_under_the_other",
            "test_every_sample_with_an_engine_is_rendered",
        ),
        f"{LIVE}/test_service_takeover.py": ("test_no_pod_restarts_and_the_mark_is_set",),
    },
}


def list_tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {each.name for each in ast.walk(tree) if isinstance(each, kinds)}


@pytest.mark.parametrize("entry", list(PLAN))
def test_an_entry_of_the_plan_is_held_by_tests_that_exist(entry: str):
    for path, names in PLAN[entry].items():
        assert set(names) <= list_tests(TESTS / path)


def test_every_part_of_the_layer_that_the_plan_names_is_there():
    parts = {entry.partition(":")[0] for entry in PLAN}
    assert parts == {
        *("manager", "single component", "RBG strategy", "RBG reconciler"),
        *("role builder", "extraction", "integration"),
    }
