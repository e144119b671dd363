"""
Names that a Kubernetes engineer need not learn: the field's own word, and one word for one thing.

Each row was a private word of this code once, with what it is called now. A name that comes
back fails here. Words of commands, flags and everything on the wire are not judged.
"""

import re
from pathlib import Path

import pytest
from source_files import CODE, ROOT, list_names, name_of

FILES = sorted(
    path for folder in ("src", "tests", "bench", "tools") for path in (ROOT / folder).rglob("*.py")
)
FORMER = {
    "act": "apply_fault",
    "acts": "fault_actions",
    "deeds": "ExecutionSummary",
    "desk": "ApiController",
    "doubt": "ProbeState, UntrustedUnit",
    "edition": "StoredRevision",
    "era": "OperatorVersion",
    "face": "UserVerbs",
    "family": "Snapshot",
    "furniture": "prerequisites",
    "ground": "Domains",
    "hindrance": "SchedulerFaults",
    "look": "reconcile, ReconcileResult",
    "office": "ControllerContext",
    "plane": "FaultyCluster, ControlPlane",
    "play": "Scenario",
    "podwise": "pods_carrier",
    "recall": "GroupCache",
    "rehearsal": "simulation, AdmissionProbe",
    "rehearser": "AdmissionProber",
    "seat": "ComponentRunner, Assignment",
    "stage": "Harness, ContainerStage",
    "tell": "emit, describe, print, list_events",
    "telling": "events, settings",
    "terrain": "DomainSource",
}
FORMER_MODULES = {
    "asking": "arguments",
    "kept": "dropped_fields",
    "places": "node_labels",
    "reaching": "connection",
    "stalling": "stalled_condition",
    "surveying": "cluster_facts",
}
# Words of the field that end like a verb, and scenarios of the bench, which are arguments.
VERB_LIKE = {"autoscaling", "coscheduling", "scheduling", "string"}
ONE_MEANING = ("Verdict", "Entry", "Fault", "Change", "Api", "Address", "Part")


def find_former(path: Path) -> list[str]:
    """The former names in a file, its own among them, each with what it is called now."""
    names = {name.strip("_").lower() for name in [*list_names(path), path.stem, path.parent.name]}
    found = {name: FORMER[name] for name in sorted(names & set(FORMER))}
    if path.stem in FORMER_MODULES:
        found[path.stem] = FORMER_MODULES[path.stem]
    return [f"{name_of(path)}: {name}, now {now}" for name, now in found.items()]


def test_no_class_function_or_module_has_a_former_name():
    assert [found for path in FILES for found in find_former(path)] == []


@pytest.mark.parametrize("name", ONE_MEANING)
def test_one_word_has_one_meaning(name: str):
    definition = re.compile(rf"^(class {name}\b|{name} *=)", re.MULTILINE)
    defined = [name_of(path) for path in CODE if definition.search(path.read_text())]
    assert len(defined) <= 1, defined


def test_modules_are_nouns():
    modules = [path for path in FILES if not path.name.startswith("test_")]
    verbs = [p for p in modules if p.stem.endswith("ing") and p.stem not in VERB_LIKE]
    outside_bench = [p for p in verbs if p.parent.name != "scenarios"]
    assert [name_of(p) for p in outside_bench] == []
