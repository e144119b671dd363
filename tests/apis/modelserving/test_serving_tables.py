"""
The tables of the two requirements behind ModelServing's keys: each row, and the test that names it.

The keys are written by hand as the tables have them; where the tables are at hand
(``KOHORT_SHARED``), they are held against them, so that no row can be missing here. A test names
its row: the text of the second column stands in its source.
"""

import ast
import os
import re
from pathlib import Path

import pytest

TWINS, KEYS = "test_serving_lws_twins.py", "test_serving_lws_plugin_keys.py"
REQUIREMENTS = Path(os.environ.get("KOHORT_SHARED", "/nowhere")) / "requirements"
GAP, PLUGIN = "000-modelserving-lws-gap.md", "001-lws-plugin.md"
IN_FORCE = pytest.mark.skipif(not REQUIREMENTS.exists(), reason="KOHORT_SHARED is not set")

# By heading of the report: the first column, what the test says, the test.
GAP_ROWS = {
    "### 3.1": [
        ("SetNameLabelKey", "name", "test_set_name_is_the_name"),
        ("WorkerIndexLabelKey", "worker-index", "test_worker_index_is_a_variable"),
        ("RevisionKey", "revision", "test_template_revision_hash_is_the_revision"),
    ],
    "### 3.2": [
        ("GroupNameLabelKey", "group-name", "test_group_name"),
        ("RoleLabelKey", "role", "test_role"),
        ("RoleIDKey", "role-id", "test_role_id"),
        ("EntryLabelKey", "entry", "test_entry"),
    ],
    "### 3.3": [
        ("GroupIndexLabelKey", "group-index", "test_group_index"),
        ("GroupUniqueHashLabelKey", "group-key", "test_group_key"),
        ("SubGroupIndexLabelKey", "subgroup-index", "test_subgroup_index"),
        ("SubGroupUniqueHashLabelKey", "subgroup-key", "test_subgroup_key"),
    ],
    "### 4.1": [
        (
            "PodDeletionCostAnnotation",
            "pod-deletion-cost",
            "test_pod_deletion_cost_of_a_template_reaches_the_pod",
        ),
        (
            "schedulingv1beta1.KubeGroupNameAnnotationKey",
            "scheduling.k8s.io/group-name",
            "test_group_name_of_the_gang",
        ),
        ("batchv1alpha1.TaskSpecKey", "volcano.sh/task-spec", "test_task_spec_of_the_gang"),
    ],
    "### 4.2": [
        (f"{key}AnnotationKey", text, "test_an_annotation_has_a_twin")
        for key, text in {
            "ExclusiveKey": "exclusive-topology",
            "SubGroupExclusiveKey": "subgroup-exclusive-topology",
            "Size": "size",
            "Replicas": "replicas",
            "LeaderPodName": "leader-name",
            "SubGroupSize": "subgroup-size",
            "SubGroupPolicyType": "subgroup-policy-type",
            "SubdomainPolicy": "subdomainPolicy",
        }.items()
    ],
    "## 5.": [
        ("LwsLeaderAddress", "LWS_LEADER_ADDRESS", "test_a_variable_has_a_twin"),
        ("LwsGroupSize", "LWS_GROUP_SIZE", "test_a_variable_has_a_twin"),
        ("LwsWorkerIndex", "LWS_WORKER_INDEX", "test_a_variable_has_a_twin"),
    ],
}
# The numbered list of what was asked for, by number.
ASKED_FOR = {
    1: ("group-index", "test_p0_group_index"),
    2: ("group-hash", "test_p0_group_hash"),
    3: ("entry-name", "test_p0_entry_name"),
    4: ("group-size", "test_p1_group_size"),
    5: ("replicas", "test_p1_replicas"),
    6: ("subgroup-", "test_p2_subgroups"),
    7: ("podAntiAffinity", "test_p2_exclusive_topology"),
    8: ("subdomain", "test_p2_subdomain_policy"),
}
# The table of differences, in its order: roles, subgroups, index, network, scheduling.
DIFFERENCES = [
    ("role-id", "test_roles_beside_leader_and_worker"),
    ("subgroup", "test_subgroups_divide_an_instance"),
    ("group-index", "test_an_index_beside_the_name"),
    ("subdomain", "test_a_subdomain_beside_the_network_topology"),
    ("affinity", "test_exclusive_topology_beside_gangs_and_network_topology"),
]
PLUGIN_ROWS = {
    "#### Labels": [
        ("name", '"name"', "test_name_is_the_name_of_the_model_serving"),
        ("worker-index", '"worker-index"', "test_worker_index_is_the_variable_worker_index"),
        ("group-index", '"group-index"', "test_group_index_is_the_ordinal_of_the_serving_group"),
        ("group-key", '"group-key"', "test_group_key_is_the_sha1_of_the_serving_groups_name"),
    ],
    "#### Annotations": [
        ("size", '"size"', "test_size_is_the_variable_group_size"),
        ("replicas", '"replicas"', "test_replicas_are_those_of_the_spec"),
    ],
    "#### Environment Variables": [
        (name, name, "test_a_variable_of_lws_has_the_value_of_its_source")
        for name in ("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX")
    ],
}


def read_tests(name: str) -> dict[str, str]:
    """The source of each test of a file, with its decorators."""
    text = (Path(__file__).parent / name).read_text()
    lines, found = text.splitlines(), {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found[node.name] = "\n".join(lines[first - 1 : node.end_lineno])
    return found


def read_section(page: str, heading: str) -> str:
    text: str = (REQUIREMENTS / page).read_text()
    return re.split(r"^#+ ", text.split(f"\n{heading}")[1], flags=re.MULTILINE)[0]


def read_rows(page: str, heading: str) -> list[str]:
    """The first column of the last table under a heading."""
    table = re.split(r"^\|[-|: ]+\|$", read_section(page, heading), flags=re.MULTILINE)[-1]
    return [row.split("|")[1].strip().strip("`") for row in table.splitlines() if row[:1] == "|"]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (TWINS, [row[1:] for rows in GAP_ROWS.values() for row in rows]),
        (TWINS, [*ASKED_FOR.values(), *DIFFERENCES]),
        (KEYS, [row[1:] for rows in PLUGIN_ROWS.values() for row in rows]),
    ],
    ids=["gap", "asked for", "plugin"],
)
def test_every_row_has_a_test_that_names_it(name: str, rows: list[tuple[str, str]]):
    held = read_tests(name)
    assert [(text, test) for text, test in rows if text not in held.get(test, "")] == []


@IN_FORCE
@pytest.mark.parametrize("heading", GAP_ROWS)
def test_no_row_of_the_report_is_missing(heading: str):
    assert [key for key, _, _ in GAP_ROWS[heading]] == read_rows(GAP, heading)


@IN_FORCE
def test_nothing_that_was_asked_for_is_missing():
    text = (REQUIREMENTS / GAP).read_text()
    asked = re.findall(r"^(\d)\. \*\*", text.split("### 6.1")[1].split("### 6.2")[0], re.MULTILINE)
    assert [int(number) for number in asked] == list(ASKED_FOR)
    assert len(read_rows(GAP, "### 6.2")) == len(DIFFERENCES)


@IN_FORCE
@pytest.mark.parametrize("heading", PLUGIN_ROWS)
def test_no_row_of_the_plugins_tables_is_missing(heading: str):
    prefix = "leaderworkerset.sigs.k8s.io/"
    keys = [key.removeprefix(prefix) for key in read_rows(PLUGIN, heading)]
    assert [key for key, _, _ in PLUGIN_ROWS[heading]] == keys
