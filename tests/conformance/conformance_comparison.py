"""
This is where two lists of answers are compared, and each difference gets a path.
"""

import json
from collections.abc import Iterable
from typing import Any

from conformance_cases import Answer
from normalise import sort_causes

MISSING = object()


def find_differences(expected: list[Answer], found: list[Answer]) -> list[str]:
    """A line for each difference: its path, what was expected and what came."""
    return [
        f"{path}: expected {_show(wanted)}, got {_show(got)}"
        for path, wanted, got in compare(expected, found)
    ]


def find_surprises(expected: list[Answer], found: list[Answer], known: Iterable[str]) -> list[str]:
    """Differences that are not known by their path, and known ones that are none."""
    lines = find_differences(expected, found)
    new = [line for line in lines if not any(line.startswith(path) for path in known)]
    gone = [path for path in known if not any(line.startswith(path) for line in lines)]
    return [*new, *(f"{path}: this difference no longer exists" for path in gone)]


def ignore_order(answers: list[Answer]) -> list[Answer]:
    """The answers with causes in a fixed order: a real server goes through maps in any."""
    return [_ignore_order(answer) for answer in answers]


def _ignore_order(answer: Answer) -> Answer:
    body = answer.get("body")
    causes = (body.get("details") or {}).get("causes") if isinstance(body, dict) else None
    return {**answer, "body": sort_causes(body)} if causes and len(causes) > 1 else answer


def compare(expected: Any, found: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """All places where two values differ; a step is a number, counted from 1."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = sorted({*expected, *found})
        pairs = [(k, expected.get(k, MISSING), found.get(k, MISSING)) for k in keys]
        return [line for k, a, b in pairs for line in compare(a, b, f"{path}.{k}".lstrip("."))]
    if isinstance(expected, list) and isinstance(found, list):
        longest = max(len(expected), len(found))
        pads = [MISSING] * longest
        both = zip((expected + pads)[:longest], (found + pads)[:longest], strict=True)
        first = 0 if path else 1
        return [
            line
            for index, (a, b) in enumerate(both, first)
            for line in compare(a, b, f"{path}.{index}".lstrip("."))
        ]
    is_same = type(expected) is type(found) and expected == found
    return [] if is_same else [(path, expected, found)]


def _show(value: Any) -> str:
    if value is MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 600 else f"{text[:600]}…"
