"""
What each reason means, where it comes from, and what to do: the pages that commands link to.

``data/reasons.json`` has an entry for every reason that the code can give, and for those of the
kubelet and of schedulers that users meet often. ``docs/reference/reasons.md`` is made from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import orjson

PAGE = "docs/reference/reasons.md"


@dataclass(frozen=True, slots=True)
class ReasonPage:
    """One reason, explained."""

    meaning: str
    cause: str
    action: str


@cache
def load_pages() -> Mapping[str, ReasonPage]:
    """The explanations of all reasons that have one."""
    text = (files("kohort.views.reasons") / "data" / "reasons.json").read_bytes()
    return {name: ReasonPage(**parts) for name, parts in orjson.loads(text).items()}


def find_link(reason: str) -> str:
    """Where a reason is explained; nothing if no page is about it."""
    return f"{PAGE}#{reason.lower()}" if reason in load_pages() else ""
