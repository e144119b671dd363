"""The CRDs of gang schedulers, against upstream's: every difference has a reason."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kohort.apis.gangs.definitions import definitions_of
from kohort.apiserver.schemas.definition import default_definition, validate_definition
from kohort.cluster.objects import Object, name_of

SHARED = os.environ.get("KOHORT_SHARED")
FOLDER = Path(SHARED or ".", "data/volcano")
DIALECTS = ("volcano", "coscheduling", "koordinator", "kai", "kubernetes", "kueue")

UPSTREAM = {
    "podgroups.scheduling.volcano.sh": "scheduling.volcano.sh_podgroups.yaml",
    "queues.scheduling.volcano.sh": "scheduling.volcano.sh_queues.yaml",
    "hypernodes.topology.volcano.sh": "topology.volcano.sh_hypernodes.yaml",
    "podgroups.scheduling.x-k8s.io": "scheduler-plugins_scheduling.x-k8s.io_podgroups.yaml",
    "podgroups.scheduling.run.ai": "kai_scheduling.run.ai_podgroups.yaml",
    "topologies.kai.scheduler": "kai_kai.scheduler_topologies.yaml",
}
DIFFERENCES = {
    "metadata.labels": "says that Kohort made it, so that an install may change it",
    "metadata.annotations.controller-gen.kubebuilder.io/version": "we use another tool",
    "metadata.annotations.helm.sh/resource-policy": "no chart installs ours",
}


def all_definitions() -> dict[str, Object]:
    return {name_of(crd): crd for name in DIALECTS for crd in definitions_of(name)}


def normalize(value: Any, word: str = "") -> Any:
    """Without texts for people and without orders and empty words that mean nothing."""
    if isinstance(value, dict):
        kept = {k: normalize(v, k) for k, v in value.items() if not is_prose(k, v)}
        return {k: v for k, v in kept.items() if not (k == "subresources" and v == {})}
    if isinstance(value, list):
        entries = [normalize(entry) for entry in value]
        return sorted(entries) if word in ("required", "enum", "shortNames") else entries
    return value


def find(holder: Object, name: str) -> Any:
    """What is missing counts as an object without the listed differences, if it can be one."""
    return holder.get(name, {} if name in ("annotations", "labels") else "nothing")


def is_prose(word: str, value: Any) -> bool:
    return word == "description" and isinstance(value, str)


def find_differences(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted({*ours, *theirs}):
            here = f"{path}.{name}".removeprefix(".")
            if here not in DIFFERENCES:
                yield from find_differences(find(ours, name), find(theirs, name), here)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from find_differences(one, other, f"{path}[{index}]")
    elif ours != theirs:
        yield f"{path}: {ours!r} is {theirs!r} upstream"


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
@pytest.mark.parametrize("name", sorted(UPSTREAM))
def test_a_definition_is_upstreams_but_for_what_is_listed(name: str):
    theirs = yaml.safe_load((FOLDER / UPSTREAM[name]).read_text())
    assert list(find_differences(normalize(all_definitions()[name]), normalize(theirs))) == []


def test_the_comparison_sees_one_field_that_differs():
    theirs = all_definitions()["hypernodes.topology.volcano.sh"]
    ours = all_definitions()["hypernodes.topology.volcano.sh"]
    schema = ours["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["tier"]["minimum"] = 1
    found = list(find_differences(normalize(ours), normalize(theirs)))
    assert [path.partition(":")[0].split(".")[-2:] for path in found] == [["tier", "minimum"]]


@pytest.mark.parametrize("name", sorted(all_definitions()))
def test_a_definition_is_one_that_a_server_takes(name: str):
    crd = all_definitions()[name]
    default_definition(crd)
    assert validate_definition(crd) == []


@pytest.mark.parametrize("name", sorted(all_definitions()))
def test_every_field_says_what_it_is_for(name: str):
    schema = all_definitions()[name]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert list(find_bare(schema["properties"]["spec"], "spec")) == []


def find_bare(schema: Object, path: str) -> Iterator[str]:
    if not schema.get("description"):
        yield path
    for name, inner in (schema.get("properties") or {}).items():
        yield from find_bare(inner, f"{path}.{name}")


def test_definitions_are_made_afresh_at_each_call():
    first, again = definitions_of("volcano"), definitions_of("volcano")
    assert first == again
    assert first[0] is not again[0]


def test_a_dialect_without_kinds_needs_no_definition():
    assert definitions_of("kueue") == ()
