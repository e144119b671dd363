"""Revisions of groups, sets and instances: upstream's hashes, found again."""

import pytest
from group_builders import group, leader_worker, standalone, template
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup import revision as revisions
from kohort.cluster.objects import Object, labels_of, name_of
from recorded_groups import Recorded, name_case, needs_recording, recordings

MADE = [case for case in recordings() if case.all("ControllerRevision")]
CASES = pytest.mark.parametrize("case", MADE, ids=name_case)


def of_kind(case: Recorded, kind: str) -> list[Object]:
    """The revisions whose owner is of that kind."""
    found = case.all("ControllerRevision")
    return [r for r in found if r["metadata"]["ownerReferences"][0]["kind"] == kind]


def newest(case: Recorded, owner: Object) -> Object:
    found = of_kind(case, owner["kind"])
    mine = [r for r in found if r["metadata"]["ownerReferences"][0]["name"] == name_of(owner)]
    return max(mine, key=lambda revision: revision["revision"])


def strip(revision: Object, also: tuple[str, ...] = ()) -> Object:
    """A revision without what a server adds."""
    added = ("uid", "resourceVersion", "creationTimestamp", "managedFields", *also)
    metadata = {k: v for k, v in revision["metadata"].items() if k not in added}
    return {**revision, "metadata": metadata}


@needs_recording
@CASES
def test_the_revision_of_a_group_is_upstreams_to_the_byte(case: Recorded):
    stored = newest(case, case.group)
    assert revisions.make_group_revision(case.group, stored["revision"]) == strip(stored)


@needs_recording
@CASES
def test_the_hash_of_a_role_is_upstreams(case: Recorded):
    hashes = revisions.hash_roles(case.group)
    for found in case.all("RoleInstanceSet"):
        role = labels_of(found)[labels.ROLE_NAME]
        assert labels_of(found)[labels.role_revision(role)] == hashes[role]


@needs_recording
@CASES
def test_the_revision_of_a_set_is_upstreams_to_the_byte(case: Recorded):
    for found in case.all("RoleInstanceSet"):
        stored = newest(case, found)
        assert revisions.make_set_revision(found, stored["revision"]) == strip(stored)
        assert found["status"]["updateRevision"] == name_of(stored)


def test_hashes_of_a_small_group_are_those_that_upstream_gave():
    """Recorded of basic/rbg/base.yaml, whose two roles differ in one port and one name."""
    image = "anolis-registry.cn-zhangjiakou.cr.aliyuncs.com/openanolis/nginx:1.14.1-8.6"

    def role(name: str, port: int, **more) -> Object:
        ports = [{"containerPort": port, "protocol": "TCP"}]
        container = {"name": f"nginx-{name}", "image": image, "ports": ports}
        made = {"template": {"spec": {"containers": [container]}}}
        policy = {"podManagementPolicy": "Parallel", "minReadySeconds": 0}
        return {"name": name, "replicas": 3, "standalonePattern": made, **policy, **more}

    found = group(role("frontend", 80), role("backend", 8080, dependencies=["frontend"]))
    assert revisions.hash_group(found) == "548cfc967f"
    assert revisions.hash_roles(found) == {"frontend": "69975498b6", "backend": "6f899f5485"}


@given(st.integers(0, 99))
def test_scaling_makes_no_revision(replicas: int):
    first = group(standalone("a", replicas=1))
    second = group(standalone("a", replicas=replicas))
    assert revisions.hash_group(first) == revisions.hash_group(second)
    assert revisions.hash_roles(first) == revisions.hash_roles(second)


def test_a_role_changes_with_the_template_that_it_refers_to():
    role = {"name": "a", "standalonePattern": {"templateRef": {"name": "base", "patch": {}}}}

    def with_image(image: str) -> Object:
        shared = [{"name": "base", "template": template(image)}]
        return group(role, standalone("b"), roleTemplates=shared)

    first = revisions.hash_roles(with_image("engine:1"))
    second = revisions.hash_roles(with_image("engine:2"))
    assert first["a"] != second["a"]
    assert first["b"] == second["b"]


def test_what_was_stored_is_found_again_by_what_it_says():
    found = group(standalone("a"))
    stored = [revisions.read_revision(revisions.make_group_revision(found, n)) for n in (1, 4)]
    kept = [each for each in stored if each]
    current = revisions.find_current(kept, revisions.write_group_data(found))
    assert current is not None and current.number == 4
    other = revisions.write_group_data(group(standalone("b")))
    assert revisions.find_current(kept, other) is None
    assert revisions.next_number(kept) == 5
    assert revisions.read_revision({"metadata": {"labels": {}}, "data": {}}) is None


def test_a_rollback_restores_roles_and_keeps_replicas():
    before = group(standalone("a", replicas=1), standalone("old"))
    after = group(standalone("a", replicas=7, image="engine:2"), leader_worker("new"))
    data = revisions.write_group_data(before)
    restored = revisions.at_revision(after, data)
    assert [(r["name"], r["replicas"]) for r in restored["spec"]["roles"]] == [("a", 7), ("old", 1)]
    assert revisions.hash_group(restored) == revisions.hash_group(before)
    assert "roleTemplates" not in restored["spec"]


def test_old_revisions_beyond_the_history_go_and_those_in_use_stay():
    stored = [revisions.StoredRevision(f"r-{n}", str(n), n, {}) for n in range(1, 9)]
    assert revisions.list_outdated(stored, {"r-1"}, kept=5) == ["r-2", "r-3"]
    assert revisions.list_outdated(stored[:3], (), kept=5) == []


def test_another_count_of_collisions_gives_another_name():
    head = {"apiVersion": "v", "kind": "RoleInstanceSet", "metadata": {"name": "s"}}
    found = {**head, "spec": {"roleInstanceTemplate": {}}}
    first, second = revisions.hash_set(found), revisions.hash_set(found, 1)
    assert first != second
    assert names.revision_name("s", first) == name_of(revisions.make_set_revision(found, 1))
