"""The LeaderWorkerSets of upstream's samples and examples, where they are at hand."""

import os
from pathlib import Path

import yaml

from kohort.cluster.objects import Object

SHARED = os.environ.get("KOHORT_SHARED")


def list_upstream() -> list[tuple[str, Object]]:
    """Every LeaderWorkerSet in upstream's samples and examples, with the file it stands in."""
    root = Path(SHARED or "/nonexistent") / "data" / "lws"
    found = []
    for path in sorted(root.rglob("*.yaml")):
        for document in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader):
            if document and document.get("kind") == "LeaderWorkerSet":
                found.append((f"{path.relative_to(root)}:{document['metadata']['name']}", document))
    return found
