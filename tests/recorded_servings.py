"""What kthena's controller left on a real control plane for its own samples."""

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from kohort.apis.modelserving.adoption import PodMark, read_mark
from kohort.apis.modelserving.revision import StoredTemplate, find_template
from kohort.cluster.objects import Object, labels_of

SHARED = os.environ.get("KOHORT_SHARED")
needs_recording = pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")


@dataclass(frozen=True)
class Recorded:
    """One ModelServing and its objects at one moment."""

    source: str
    when: str
    objects: list[Object]

    def all(self, kind: str) -> list[Object]:
        return [obj for obj in self.objects if obj["kind"] == kind]

    @property
    def serving(self) -> Object:
        return self.all("ModelServing")[0]

    @property
    def stored(self) -> list[StoredTemplate]:
        return [t for t in map(find_template, self.all("ControllerRevision")) if t]

    @property
    def marks(self) -> list[PodMark]:
        return [read_mark(labels_of(pod)) for pod in self.all("Pod")]


@cache
def recordings() -> list[Recorded]:
    if SHARED is None:
        return []
    entries = json.loads(Path(SHARED, "data/kthena/recorded_takeover.json").read_text())
    moments = ("at_rest", "in_rollout")
    return [Recorded(e["source"], when, e[when]) for e in entries for when in moments]


def name_case(case: Recorded) -> str:
    return f"{case.source}-{case.when}"
