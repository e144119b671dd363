"""Which dialects there are, and how others bring theirs."""

from dataclasses import replace
from importlib.metadata import EntryPoint
from itertools import combinations

import pytest

from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.known import DIALECTS, read_variants
from kohort.controller.process.gangs import PluginError, load_dialect, load_dialects

KAI = DIALECTS["kai"][0]


@pytest.mark.parametrize("name", DIALECTS)
def test_variants_have_the_name_that_they_are_known_by(name: str):
    assert read_variants(name, DIALECTS[name]) == DIALECTS[name]


@pytest.mark.parametrize("name", DIALECTS)
def test_every_kind_that_a_dialect_speaks_of_can_be_defined_or_is_built_in(name: str):
    defined = {
        (crd["spec"]["group"], crd["spec"]["names"]["kind"], crd["spec"]["versions"][0]["name"])
        for crd in definitions_of(name)
    }
    spoken = DIALECTS[name][-1]
    kinds = {(kind.group, kind.name, kind.version) for kind in (*spoken.kinds, *spoken.reads)}
    assert kinds <= defined


def test_no_two_dialects_write_the_same_kind_or_mark_pods_alike():
    named = [(d.name, set(d.kinds), d.membership) for ds in DIALECTS.values() for d in ds]
    for (one, kinds, key), (other, others, another) in combinations(named, 2):
        assert one == other or not (kinds & others or key == another)


def test_what_is_installed_is_looked_for_once():
    assert load_dialects() is load_dialects()
    assert list(load_dialects())[: len(DIALECTS)] == list(DIALECTS)


def load(name: str, value: str):
    return load_dialect(EntryPoint(name, value, "kohort.gangs"))


def test_an_entry_point_brings_a_dialect_or_its_variants(monkeypatch):
    module = "kohort.apis.gangs.dialects.kubernetes"
    monkeypatch.setattr("kohort.controller.process.gangs.DIALECTS", {})
    assert [variant.name for variant in load("kubernetes", f"{module}:V1BETA1")] == ["kubernetes"]
    known = "kohort.apis.gangs.known"
    assert len(load_dialect(EntryPoint("kai", f"{known}:KAI", "kohort.gangs"))) == 1


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("mine", "kohort.nowhere:X", "No module named"),
        ("mine", "kohort.apis.gangs.known:NOTHING", "has no attribute"),
        ("mine", "kohort.apis.gangs.known:AUTO", "must be a Dialect"),
        ("mine", "kohort.apis.gangs.known:KAI", "calls itself 'kai'"),
        ("kai", "kohort.apis.gangs.known:KAI", "Kohort has a dialect of that name"),
    ],
)
def test_a_dialect_that_cannot_be_used_says_whose_it_is_and_why(name: str, value: str, why: str):
    with pytest.raises(PluginError) as caught:
        load(name, value)
    assert f"gang dialect {name} at {value} cannot be used" in str(caught.value)
    assert why in str(caught.value)


@pytest.mark.parametrize("name", ["auto", "none", "", "a,b"])
def test_some_names_mean_something_else(name: str):
    with pytest.raises(ValueError, match="is no name for a dialect"):
        read_variants(name, replace(KAI, name=name))
    with pytest.raises(ValueError, match="must be a Dialect"):
        read_variants(name, ())
