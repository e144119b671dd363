"""The revision that the instances below the partition of a role come back from."""

from dataclasses import replace

import pytest
from serving_builders import serving

from kohort.apis.modelserving import labels
from kohort.apis.modelserving.adoption import TargetRevision
from kohort.apis.modelserving.groups import Context
from kohort.apis.modelserving.kept_revisions import find_kept, read_kept
from kohort.apis.modelserving.revision import StoredTemplate, find_template, make_revision
from kohort.apis.modelserving.spec import GROUP_ROLLING, ROLE_ROLLING, RoleSpec, ServingSpec
from kohort.cluster.objects import Object
from kohort.model.observed import Group, Instance, Member, RoleInstances
from kohort.model.units import Phase

TARGET = TargetRevision("new", True, {"a": "hash"}, same_roles={"a": frozenset({"new", "same"})})


def context(
    kept: dict[str, str] | None = None,
    partition: int | None = 1,
    base: str = "old",
    rollout: str = ROLE_ROLLING,
) -> Context:
    role = RoleSpec("a", 3, 0, {}, partition=partition)
    templates = dict.fromkeys(("new", "old", "older", "same"), (role,))
    spec = ServingSpec(1, (role,), rollout=rollout)
    return Context("x", spec, TARGET, templates, base, kept=kept or {})


def group(*revisions: str, phase: Phase = Phase.READY) -> Group:
    """A group of one role, with the revisions of its instances from the lowest on."""
    instances = tuple(
        Instance(
            ordinal,
            "hash" if revision == "new" else f"hash of {revision}",
            phase if ordinal == 0 else Phase.READY,
            str(ordinal),
            1,
            (Member(f"x-0-a-{ordinal}-0", str(ordinal), 0, revision, Phase.READY),),
        )
        for ordinal, revision in enumerate(revisions)
    )
    roles = (RoleInstances("a", 3, "hash", instances),)
    return Group(0, "old", Phase.READY, "0", 3, roles=roles)


@pytest.mark.parametrize(
    ("noted", "base"),
    [("older", "older"), ("new", ""), ("same", ""), ("gone", "old"), ("", "old")],
)
def test_a_kept_instance_comes_back_from_what_is_noted_or_else_from_the_status(
    noted: str, base: str
):
    assert context({"a": noted} if noted else {}).find_base("a") == base


def test_a_role_that_the_noted_revision_lacks_comes_from_the_target():
    assert context({"b": "older"}).find_base("b") == ""


@pytest.mark.parametrize(
    ("noted", "found", "kept"),
    [
        ("old", group("old", "new", "new"), "old"),
        ("old", group("new", "old", "old"), "new"),
        ("new", group("old", "old", "old"), "old"),
        ("older", group("foreign", "new", "new"), "older"),
        ("older", group("old", "new", "new", phase=Phase.LEAVING), "older"),
        ("older", group(), "older"),
    ],
)
def test_the_note_says_what_instances_below_the_partition_have_and_stays_while_none_tells(
    noted: str, found: Group, kept: str
):
    assert find_kept(context({"a": noted}), [found]) == {"a": kept}


def test_the_note_stays_while_a_kept_instance_has_what_it_says():
    """A partition that rises in the middle of a rollout keeps instances of both revisions."""
    found = group("new", "old", "old")
    assert find_kept(context({"a": "old"}, partition=2), [found]) == {"a": "old"}


def test_a_new_workload_notes_its_first_revision():
    assert find_kept(context(base=""), []) == {"a": "new"}


def test_an_instance_that_another_client_edited_tells_nothing():
    found = group("old", "new", "new")
    (role,) = found.roles
    edited = replace(role.instances[0], is_edited=True)
    found = replace(found, roles=(replace(role, instances=(edited, *role.instances[1:])),))
    assert find_kept(context({"a": "older"}), [found]) == {"a": "older"}


def test_a_note_of_the_revision_in_force_counts_before_that_is_stored():
    found = context({"a": "new"})
    stored = {name: roles for name, roles in found.templates.items() if name != "new"}
    assert replace(found, templates=stored).find_base("a") == ""


@pytest.mark.parametrize(("partition", "rollout"), [(None, ROLE_ROLLING), (1, GROUP_ROLLING)])
def test_without_a_partition_of_a_role_there_is_nothing_to_note(
    partition: int | None, rollout: str
):
    found = context(partition=partition, rollout=rollout)
    assert find_kept(found, [group("old", "old", "old")]) == {}


@pytest.mark.parametrize(
    ("reported", "kept"), [("old", {"a": "older"}), ("new", {"a": "old"}), ("gone", {"a": "old"})]
)
def test_the_note_of_the_revision_that_the_status_names_counts(reported: str, kept: dict[str, str]):
    """A user who goes back brings no note of long ago into force."""
    stored = [
        StoredTemplate("old", 1, [], kept={"a": "older"}),
        StoredTemplate("new", 2, [], kept={"a": "old"}),
    ]
    assert read_kept({"status": {"updateRevision": reported}}, stored, TARGET) == kept


@pytest.mark.parametrize("text", ["", "nothing", "[]", '{"a": 1}'])
def test_an_unreadable_note_says_nothing(text: str):
    stored = make_revision(serving(), "new", 1, {}, {"a": "old"})
    assert _read(stored) == {"a": "old"}
    stored["metadata"]["annotations"][labels.KEPT_REVISIONS] = text
    assert _read(stored) == {}


def _read(stored: Object) -> dict[str, str]:
    template = find_template(stored)
    assert template is not None
    return dict(template.kept)
