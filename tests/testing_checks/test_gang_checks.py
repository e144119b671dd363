"""``check_gang`` passes every dialect of ours, and says what is wrong with a broken one."""

from dataclasses import replace
from typing import Any

import pytest

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.known import DIALECTS
from kohort.cluster.objects import Object
from kohort.testing import check_gang

MINE = replace(COSCHEDULING, name="mine")


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_of_ours_passes(name: str):
    assert check_gang(DIALECTS[name], name=name) == []


def rename(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "name": "other"}}


def spoil(pod: Object, membership, tiers) -> Object:
    pod["metadata"]["labels"]["spoilt"] = "yes"
    return COSCHEDULING.mark(pod, membership, tiers)


counter = iter(range(10**6))


def count(intent, tiers) -> tuple[Object, ...]:
    [obj] = COSCHEDULING.render(intent, tiers)
    return ({**obj, "spec": {"number": next(counter)}},)


def fail(*_: Any) -> Any:
    raise ZeroDivisionError


BROKEN: dict[str, Dialect] = {
    "mine drops the queue silently: render it, or name it in find_losses": replace(
        MINE, find_losses=lambda intent, tiers: ()
    ),
    "mine renders one gang in two ways": replace(MINE, render=count),
    "mine changed the pod that it was given; return a copy": replace(MINE, mark=spoil),
    "mine renders PodGroup under another name than the gang's": replace(
        MINE, render=lambda i, t: tuple(map(rename, COSCHEDULING.render(i, t)))
    ),
    "which its kinds do not name": replace(MINE, kinds=(), needs=COSCHEDULING.kinds),
    "a pod does not name its gang in": replace(MINE, mark=lambda pod, membership, tiers: pod),
    "loss 'no queue' is no sentence": replace(MINE, find_losses=lambda i, t: ("no queue",)),
    "remedy is empty": replace(MINE, remedy=""),
    "mine raised ZeroDivisionError": replace(MINE, render=fail),
    "Kohort has a dialect called volcano": replace(COSCHEDULING, name="volcano"),
}


@pytest.mark.parametrize("sentence", BROKEN)
def test_a_broken_dialect_is_told_in_a_sentence(sentence: str):
    assert any(sentence in fault for fault in check_gang(BROKEN[sentence]))


def test_a_fault_names_the_gang_that_shows_it():
    found = check_gang(BROKEN["mine renders one gang in two ways"])
    assert found[0] == "mine renders one gang in two ways: a gang of 4, queue q"


def test_what_is_no_dialect_is_refused():
    assert check_gang(1) == ["it must be a Dialect or several, not int"]  # type: ignore[arg-type]
    assert check_gang(MINE, name="yours") == ["it calls itself 'mine', not 'yours'"]
