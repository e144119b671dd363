"""Which dialects an operator speaks, by what it is told and what the cluster serves."""

from typing import Any

import pytest

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cluster.errors import Forbidden, NotFound
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Listing, Selection
from kohort.controller.process.gangs import (
    choose_dialects,
    gather_tiers,
    has_usual,
    list_variants,
    read_gangs,
    read_tier,
)
from kohort.controller.process.schemas import find_pruned

NEW, OLD = (Kind("example.com", version, "Gang", "gangs") for version in ("v2", "v1"))


def speak(name: str, *kinds: Kind, **more: Any) -> Dialect:
    return Dialect(name, "", lambda pod, membership, tiers: pod, "example.com/g", kinds, **more)


KNOWN = {
    "volcano": (VOLCANO,),
    "native": (speak("native", NEW), speak("native", OLD)),
    "bare": (speak("bare"),),
    "queue": (speak("queue", needs=(OLD,)),),
}


class Served:
    """A cluster that serves some kinds; others are unknown, or hidden from us."""

    def __init__(self, *kinds: Kind, hidden: tuple[Kind, ...] = ()) -> None:
        self.kinds = kinds
        self.hidden = hidden

    async def list(self, selection: Selection) -> Listing:
        if selection.kind in self.hidden:
            raise Forbidden("no")
        if selection.kind not in self.kinds:
            raise NotFound("no")
        return Listing([], "1")


async def chosen(text: str, *kinds: Kind, hidden: tuple[Kind, ...] = ()) -> list[Dialect]:
    served: Any = Served(*kinds, hidden=hidden)
    return list(await choose_dialects(served, text, KNOWN))


async def test_a_name_is_spoken_whether_or_not_it_is_served():
    assert await chosen("volcano") == [VOLCANO]
    assert await chosen("") == []


async def test_of_variants_the_newest_that_is_served_is_spoken():
    assert await chosen("native", NEW, OLD) == [KNOWN["native"][0]]
    assert await chosen("native", OLD) == [KNOWN["native"][1]]
    assert await chosen("native") == [KNOWN["native"][0]]


async def test_auto_takes_all_that_is_served_and_nothing_else():
    assert [d.name for d in await chosen("auto", OLD)] == ["native", "queue"]
    assert await chosen("auto") == []
    assert await chosen("auto", hidden=(OLD, NEW)) == []


async def test_none_in_front_keeps_what_is_there_and_makes_no_more():
    assert await chosen("none,volcano") == [VOLCANO]
    assert not has_usual("none,volcano")
    assert has_usual("volcano")
    assert read_gangs("none, volcano", KNOWN) == "none,volcano"
    with pytest.raises(ValueError, match="not 'none'"):
        read_gangs("volcano,none", KNOWN)


def test_roles_are_written_for_every_variant():
    assert list_variants("native,volcano", KNOWN) == (*KNOWN["native"], VOLCANO)
    assert len(list_variants("auto", KNOWN)) == 5


def test_tiers_are_put_in_their_order():
    tiers = gather_tiers([read_tier("2=spine="), read_tier("1=rack=a/b"), read_tier("1==c/d")])
    assert [(t.number, t.name, t.label) for t in tiers.all] == [(1, "", "c/d"), (2, "spine", "")]
    for bad in ("rack", "x=rack=a", "1=", "-1=rack=a"):
        with pytest.raises(ValueError, match="must look like"):
            read_tier(bad)


def publish(spec: Object) -> Object:
    kind = LEADER_WORKER_SET.kind
    names = [{"group": kind.group, "version": kind.version, "kind": kind.name}]
    schema = {"x-kubernetes-group-version-kind": names, "properties": {"spec": spec}}
    return {"components": {"schemas": {"any": schema}}}


def test_a_definition_that_drops_our_field_is_told_of():
    kind, ours = LEADER_WORKER_SET.kind, LEADER_WORKER_SET.additions
    (line,) = find_pruned(publish({"properties": {"replicas": {}}}), kind, ours)
    assert "drops spec.networkTopology: annotation kohort.dev/network-topology serves" in line
    assert list(find_pruned(publish({"properties": {"networkTopology": {}}}), kind, ours)) == []
    kept = {"x-kubernetes-preserve-unknown-fields": True}
    assert list(find_pruned(publish(kept), kind, ours)) == []
    assert list(find_pruned({}, kind, ours)) == []


def test_an_addition_deep_in_the_spec_is_looked_for_in_lists_and_maps():
    kind, ours = LEADER_WORKER_SET.kind, {"roles[].template.pins": "a/b"}
    inner: Object = {"properties": {"template": {"properties": {"pins": {}}}}}
    for word in ("items", "additionalProperties"):
        assert not list(find_pruned(publish({"properties": {"roles": {word: inner}}}), kind, ours))
    lacking: Object = {"properties": {"roles": {"items": {"properties": {"template": {}}}}}}
    (line,) = find_pruned(publish(lacking), kind, ours)
    assert "drops spec.roles[].template.pins: annotation a/b serves" in line
    open_map = {"properties": {"roles": {"items": {"x-kubernetes-preserve-unknown-fields": True}}}}
    assert not list(find_pruned(publish(open_map), kind, ours))
