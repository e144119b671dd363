"""Without a gang nothing of ours stands in a template: sets and pods are upstream's to the byte."""

from typing import Any

import pytest
from operator_lab import Lab, make_lws
from test_takeover_by_hand import SAMPLES, make
from test_takeover_by_hand import open_lab as open_by_hand
from test_takeover_runs import open_lab as open_recorded
from test_takeover_runs import recorded, samples

from kohort.apis.leaderworkerset.spec import size_of
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, name_of

OURS = "kohort.dev/"


def find_keys(value: Any) -> set[str]:
    """All keys of ours, at any depth."""
    if isinstance(value, list):
        return {key for item in value for key in find_keys(item)}
    if not isinstance(value, dict):
        return set()
    own = {key for key in value if key.startswith(OURS)}
    return own.union(*(find_keys(inner) for inner in value.values()))


async def test_no_set_its_revisions_and_no_pod_of_a_plain_workload_carries_a_key_of_ours():
    lab = await Lab().open()
    await lab.apply(make_lws(groups=2, size=3))
    await lab.until(lab.is_available)
    for kind in (kinds.STATEFUL_SET, kinds.POD):
        made = lab.all(kind)
        assert made
        assert {name_of(obj): find_keys(obj) for obj in made} == {
            name_of(obj): set() for obj in made
        }
    stored = [
        r for r in lab.all(kinds.CONTROLLER_REVISION) if "template" in r["data"].get("spec", {})
    ]
    assert all(find_keys(revision["data"]) == set() for revision in stored)
    await lab.close()


def without_workers(objects: list[Object], gone: str) -> list[Object]:
    """The objects without the worker set of one group and its pods."""
    return [
        obj
        for obj in objects
        if (obj["kind"], name_of(obj)) != ("StatefulSet", gone)
        and not (obj["kind"] == "Pod" and name_of(obj).startswith(f"{gone}-"))
    ]


async def check_made_again(lab: Lab, objects: list[Object], gone: str) -> None:
    """Let the operator make the worker set that is gone, and hold it against upstream's."""
    upstream = next(o for o in objects if (o["kind"], name_of(o)) == ("StatefulSet", gone))
    lab.start_operator()
    await lab.run(30)
    made = lab.find(kinds.STATEFUL_SET, gone)
    assert made is not None
    wanted = upstream["spec"]["template"]["metadata"]
    assert made["spec"]["template"]["metadata"]["annotations"] == wanted["annotations"]
    assert made["spec"]["template"]["metadata"]["labels"] == wanted["labels"]
    assert annotations_of(made) == annotations_of(upstream)
    await lab.close()


@pytest.mark.parametrize("sample", SAMPLES)
async def test_a_worker_set_is_marked_as_upstream_marks_it(sample: str):
    upstream = make(sample)
    objects = upstream.at_rest()
    gone = f"{upstream.name}-0"
    lab = await open_by_hand(upstream, without_workers(objects, gone))
    await check_made_again(lab, objects, gone)


@recorded
@pytest.mark.parametrize("number", range(16))
async def test_a_worker_set_is_marked_as_the_recorded_one_is(number: int):
    sample = samples()[number]
    objects = sample["at_rest"]
    lws = next(obj for obj in objects if obj["kind"] == "LeaderWorkerSet")
    gone = f"{sample['name']}-0"
    if size_of(lws) == 1 or not any(name_of(obj) == gone for obj in objects):
        return
    lab = await open_recorded({**sample, "at_rest": without_workers(objects, gone)}, "at_rest")
    for runner in lab.world.runners:
        lab.hold_component(runner)
    await check_made_again(lab, objects, gone)
