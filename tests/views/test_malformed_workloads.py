"""One object of the wrong shape costs its own row, and every view of it is still a sentence."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import NOW, Scene, bad_image, make_lws, own

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cli.render.explanations import write_explanation, write_history
from kohort.cli.render.tables import write_table
from kohort.cli.render.topologies import write_spread
from kohort.cli.render.trees import write_tree
from kohort.cli.render.values import write_value
from kohort.cluster.kinds import POD
from kohort.views.explain import explain, suggest_commands
from kohort.views.health import judge
from kohort.views.picture import take_picture
from kohort.views.rollouts import make_history
from kohort.views.samples import gather
from kohort.views.table import make_row, make_table
from kohort.views.topology.atlas import draw_atlas
from kohort.views.topology.gangs import Evidence, explain_gangs, find_dialects
from kohort.views.topology.spread import make_spread
from kohort.views.tree import make_tree
from spoiled_objects import VALUES, spoil

BLOCKED = Scene((1, 1, 1, 2), boundary=3, waiting={"llama-3-2": bad_image()})


class Billions(Scene):
    """Another client scaled the set of leaders."""

    def leader_set(self):
        return spoil(super().leader_set(), ("spec", "replicas"), 2**31 - 1)


BILLIONS = Billions()
PLACES = [
    ("spec",),
    ("spec", "replicas"),
    ("spec", "networkConfig"),
    ("spec", "rolloutStrategy"),
    ("spec", "networkTopology"),
    ("spec", "startupPolicy"),
    ("spec", "leaderWorkerTemplate"),
    ("spec", "leaderWorkerTemplate", "size"),
    ("spec", "leaderWorkerTemplate", "restartPolicy"),
    ("spec", "leaderWorkerTemplate", "subGroupPolicy"),
    ("spec", "leaderWorkerTemplate", "leaderTemplate"),
    ("spec", "leaderWorkerTemplate", "workerTemplate"),
    ("spec", "leaderWorkerTemplate", "workerTemplate", "spec"),
    ("spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers"),
    ("spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers", 0),
    ("spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers", 0, "image"),
    ("spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers", 0, "resources"),
    ("status",),
    ("status", "conditions"),
    ("status", "observedGeneration"),
]
NOTES = (labels.CARRIER, labels.STRATEGY, labels.GANG, labels.NETWORK_TOPOLOGY, labels.SIZE)


def spoiled_sets():
    body = st.builds(lambda place, value: spoil(make_lws(), place, value), places(), VALUES)
    notes = st.dictionaries(st.sampled_from(NOTES), st.text(max_size=6), max_size=2)
    return st.builds(with_notes, body, notes)


def places():
    return st.sampled_from(PLACES)


def with_notes(obj, notes):
    return {**obj, "metadata": {**obj["metadata"], "annotations": notes}}


def look_at_all(picture):
    """Every view of one workload, as text and as values."""
    told = explain(picture, (), explain_gangs(picture, Evidence()))
    tree = make_tree(picture, suggest_commands(picture, judge(picture)), unfold=True)
    spread = make_spread(picture, draw_atlas([], [], []))
    for view in (make_row(picture), told, tree, make_history(picture), spread):
        assert write_value(view, "json")
    assert write_explanation(told, NOW)
    assert write_tree(tree, NOW)
    assert write_spread(spread, NOW)
    return write_history(make_history(picture), NOW)


def read_both(bad):
    """The pictures of a bad object and of a good one that is listed after it."""
    good = make_lws()
    good["metadata"]["name"] = "zebra"
    samples = gather(LEADER_WORKER_SET, [orjson.dumps(bad), orjson.dumps(good)], {})
    return [take_picture(LEADER_WORKER_SET, sample, NOW) for sample in samples]


@given(spoiled_sets())
def test_every_view_of_a_malformed_object_is_shown(bad):
    look_at_all(Scene(BLOCKED.revisions, 3, BLOCKED.waiting, lws=bad).picture())
    assert find_dialects(read_both(bad)[0], []) == ()


@given(spoiled_sets())
def test_a_malformed_object_costs_its_own_row(bad):
    lines = write_table(make_table(read_both(bad)), NOW)
    assert len(lines) == 3
    assert lines[2].split()[:3] == ["LeaderWorkerSet", "zebra", "0/4"]


def test_a_set_without_a_spec_is_stalled_and_says_why():
    bad = make_lws()
    del bad["spec"]
    row = make_row(read_both(bad)[0])
    assert (row.health.word, row.health.reason) == ("stalled", "Malformed")
    assert row.health.message == "spec is missing: mend the object, or delete it"


def test_numbers_that_admission_refuses_are_not_planned():
    row = make_row(read_both(spoil(make_lws(), ("spec", "replicas"), -1))[0])
    assert (row.health.word, row.health.reason) == ("stalled", "Invalid")
    assert "replicas must be equal or greater than 0" in row.health.message


def test_a_leader_set_scaled_to_billions_is_not_walked():
    picture = BILLIONS.picture()
    assert picture.reading.observed.progress.count == 2_000_000


def test_a_group_of_billions_of_pods_is_not_made():
    notes = {labels.CARRIER: labels.PODS}
    huge = spoil(make_lws(groups=1), ("spec", "leaderWorkerTemplate", "size"), 2**31 - 1)
    health = make_row(read_both(with_notes(huge, notes))[0]).health
    assert health.reason == "TooLarge"
    assert "at most 10000 pods" in health.message


def test_a_leader_that_claims_billions_of_workers_is_read_up_to_a_bound():
    pod = Scene((2,)).pod(0, 0)
    pod["metadata"]["annotations"][labels.SIZE] = "9999999999"
    pod["metadata"]["ownerReferences"] = [{**own("root", "LeaderWorkerSet")[0], "name": "llama"}]
    made = with_notes(make_lws(), {labels.CARRIER: labels.PODS})
    raw = {POD: [orjson.dumps(pod)]}
    sample = gather(LEADER_WORKER_SET, [orjson.dumps(made)], raw)[0]
    reading = take_picture(LEADER_WORKER_SET, sample, NOW).reading
    assert [group.size for group in reading.observed.groups] == [10_000]


@pytest.mark.parametrize("levels", [300, 900])
def test_a_deep_object_costs_its_own_row(levels):
    raw = orjson.dumps(make_lws()).replace(b'"replicas"', b'"x": DEEP, "replicas"')
    deep = raw.replace(b"DEEP", b'{"a":' * levels + b"1" + b"}" * levels)
    samples = gather(LEADER_WORKER_SET, [deep, orjson.dumps(make_lws())], {})
    rows = [make_row(take_picture(LEADER_WORKER_SET, sample, NOW)) for sample in samples]
    assert rows[0].health.message.startswith("the object is nested more than 200 levels deep")
    assert rows[1].health.reason != "Malformed"
