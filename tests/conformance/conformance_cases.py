"""
This is where conformance cases are read: who asks what, in which order.

A case is data: steps that are sent one after another in a namespace of its own.
``{ns}`` and values saved from earlier answers stand in braces. Setups are steps
that several cases share; they must succeed, and their answers are not compared.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
CASES = HERE / "cases"
RECORDED = HERE / "recorded"
DIFFERENCES = HERE / "differences.yaml"
SETUPS = "setups"

Step = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One claim about the behaviour of an API server."""

    topic: str
    name: str
    steps: tuple[Step, ...]
    setup: tuple[Step, ...] = ()
    managed: bool = False  # Compare managed fields, which other cases leave out.
    unordered: bool = False  # Compare causes as a set; the real server shuffles them.
    versions: bool = True  # Tell versions apart; not where controllers write meanwhile.
    bytes: bool = False  # Compare texts as they came, and not what they mean.
    webhook: bool = False  # Conversion webhooks are called: {webhook} is where, {bundle} its CA.


def load_cases() -> list[Case]:
    """All cases, topic by topic."""
    setups = yaml.safe_load((CASES / f"{SETUPS}.yaml").read_text())
    paths = sorted(path for path in CASES.glob("*.yaml") if path.stem != SETUPS)
    return [_read(path.stem, raw, setups) for path in paths for raw in _load(path)]


def _load(path: Path) -> list[dict[str, Any]]:
    return yaml.safe_load(path.read_text())["cases"]


def _read(topic: str, raw: dict[str, Any], setups: dict[str, list[Step]]) -> Case:
    known = {"name", "setup", "steps", "managed", "versions", "unordered", "bytes", "webhook"}
    assert set(raw) <= known, f"{raw['name']}: {set(raw) - known}"
    setup: list[Step] = []
    for item in raw.get("setup", []):
        setup.extend(setups[item] if isinstance(item, str) else [item])
    return Case(
        topic,
        raw["name"],
        tuple(raw["steps"]),
        tuple(setup),
        raw.get("managed", False),
        raw.get("unordered", False),
        raw.get("versions", True),
        raw.get("bytes", False),
        raw.get("webhook", False),
    )


@cache
def load_recorded(topic: str) -> dict[str, list[Answer]]:
    """What the real server answered to the cases of a topic."""
    path = RECORDED / f"{topic}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write_recorded(topic: str, answers: dict[str, list[Answer]]) -> None:
    """Keep what the real server answered to the cases of a topic."""
    text = json.dumps(answers, indent=1, ensure_ascii=False, sort_keys=True)
    (RECORDED / f"{topic}.json").write_text(text + "\n")


def load_differences() -> dict[str, dict[str, str]]:
    """Known differences: case → path in its answers → reason."""
    return yaml.safe_load(DIFFERENCES.read_text()) or {}
