"""Names of a RoleBasedGroup, by upstream's table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.rolebasedgroup import names

NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,70}[a-z0-9])?", fullmatch=True)


def test_names_of_one_role_are_those_of_the_worked_example():
    assert names.workload_name("m1", "engine") == "m1-engine"
    assert names.service_name("m1", "engine") == "s-m1-engine"
    assert names.adapter_name("m1", "decoder") == "m1-decoder"
    assert names.config_name("m1") == "m1"
    assert names.instance_name("m1-engine", 1) == "m1-engine-1"


def test_pods_are_named_by_their_pattern():
    assert names.standalone_pod_name("m1-decoder-2") == "m1-decoder-2"
    assert names.leader_worker_pod_name("m1-engine-0", 1) == "m1-engine-0-1"
    assert names.component_pod_name("m1-p-0", "router", 3) == "m1-p-0-router-3"


def test_a_name_is_cut_at_63_characters_and_loses_a_dash_at_its_end():
    assert names.workload_name("g" * 62, "role") == "g" * 62
    assert names.service_name("g" * 70, "role") == "s-" + "g" * 61
    assert names.adapter_name("g" * 70, "role") == "g" * 70 + "-role"


def test_roles_whose_names_the_cut_makes_equal_are_named_23():
    """Defect 23: upstream lets two roles fight over one workload."""
    group = "g" * 60
    wanted = ["g" * 60 + "-de", "s-" + "g" * 60]
    assert names.list_collisions(group, ["decode-a", "decode-b"]) == wanted
    assert names.list_collisions("m1", ["a", "b"]) == []


def test_revisions_are_named_as_upstream_names_them():
    assert names.group_revision_name("m1", "548cfc967f", 2) == "m1-548cfc967f-2"
    assert names.group_revision_name("g" * 230, "h", 1) == "g" * 220 + "-h-1"
    assert names.revision_name("m1-engine", "69f85b5477") == "m1-engine-69f85b5477"
    assert names.short_revision("m1-engine-69f85b5477") == "69f85b5477"


def test_the_hash_of_a_group_is_that_of_upstream():
    assert names.group_hash("take-0", "nginx-cluster") == "6a7a5f72f05e1e9cfb6cb6aca4123f938250af99"


@given(st.integers(0, 27**5 - 1), st.uuids())
def test_the_name_of_a_stateless_instance_is_its_ordinal(ordinal: int, uid):
    found = names.instance_id(str(uid), ordinal)
    assert len(found) == 5 and set(found) <= set("bcdfghjklmnpqrstvwxz2456789")
    assert names.read_instance_id(str(uid), found) == ordinal


@pytest.mark.parametrize("text", ["", "0", "bcdf", "bcdfa", "bcdfgh", "BCDFG"])
def test_what_kubernetes_would_not_draw_is_no_identity(text: str):
    assert names.read_instance_id("uid", text) == names.NO_ORDINAL


def test_a_stateless_instance_has_five_characters_behind_a_cut_name():
    assert names.stateless_name("s" * 60, "bcdfg") == "s" * 57 + "-bcdfg"


@given(NAMES, NAMES)
def test_workloads_and_services_fit_into_a_label(group: str, role: str):
    for made in (names.workload_name(group, role), names.service_name(group, role)):
        assert 0 < len(made) <= names.NAME_MAX
        assert not made.endswith("-")
