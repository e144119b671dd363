"""What upstream's controller left on a real control plane for its own samples."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml

from kohort.cluster.objects import Object, name_of

SHARED = os.environ.get("KOHORT_SHARED")
needs_recording = pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")


@dataclass(frozen=True)
class Recorded:
    """One RoleBasedGroup and its objects at one moment."""

    source: str
    when: str
    objects: list[Object]

    def all(self, kind: str) -> list[Object]:
        return [obj for obj in self.objects if obj["kind"] == kind]

    def find(self, kind: str, name: str) -> Object:
        return next(obj for obj in self.all(kind) if name_of(obj) == name)

    @property
    def group(self) -> Object:
        return self.all("RoleBasedGroup")[0]


@cache
def recordings() -> list[Recorded]:
    """All moments at which upstream had acted: at rest, and in a rollout."""
    if SHARED is None:
        return []
    entries = json.loads(Path(SHARED, "data/rbg/recorded_takeover.json").read_text())
    moments = ("at_rest", "in_rollout")
    return [Recorded(e["source"], when, e[when]) for e in entries for when in moments]


def name_case(case: Recorded) -> str:
    return f"{case.source}-{case.group['metadata']['name']}-{case.when}"


@cache
def examples() -> list[tuple[str, Object]]:
    """Every object of upstream's examples, with the file that it stands in."""
    if SHARED is None:
        return []
    root = Path(SHARED, "data/rbg/examples")
    return [
        (str(path.relative_to(root)), obj)
        for path in sorted(root.rglob("*.yaml"))
        for obj in _load(path)
    ]


def _load(path: Path) -> Iterator[Object]:
    for obj in yaml.safe_load_all(path.read_text()):
        if isinstance(obj, dict):
            yield obj
