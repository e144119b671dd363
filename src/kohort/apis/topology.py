"""
A network topology as users write it: a mode, and how far apart pods may be.

It has one form everywhere: a field of an API, or JSON in an annotation. An unreadable topology
counts as none here; admission refuses it.
"""

from typing import Any

import orjson

from kohort.cluster.objects import Object
from kohort.model.placement import Pack, Strength

MODES = tuple(strength.value for strength in Strength)
_KNOWN = ("mode", "highestTierAllowed", "highestTierName")


def find_noted(text: str) -> Any:
    """The JSON value of the annotation; None if it is empty or no JSON."""
    try:
        return orjson.loads(text) if text else None
    except ValueError:
        return None


def find_pack(text: str) -> Pack | None:
    """The pack in an annotation's text, or None."""
    return read_pack(find_noted(text))


def read_pack(topology: Any) -> Pack | None:
    """The topology as a pack of the model; None if there is none, or it breaks a rule."""
    if topology is None or find_faults(topology):
        return None
    return Pack(
        Strength(topology.get("mode") or Strength.HARD),
        topology.get("highestTierAllowed"),
        topology.get("highestTierName") or "",
    )


def find_faults(topology: Any) -> list[tuple[str, Any, str]]:
    """The broken rules: the field (empty for the whole), its value, and the rule."""
    if not isinstance(topology, dict):
        return [("", topology, "must be an object with mode and highestTierAllowed")]
    unknown = [(key, topology[key], "is not known") for key in topology if key not in _KNOWN]
    return [*unknown, *_check_mode(topology), *_check_tier(topology)]


def _check_mode(topology: Object) -> list[tuple[str, Any, str]]:
    mode = topology.get("mode")
    return [] if mode in (None, *MODES) else [("mode", mode, "must be hard or soft")]


def _check_tier(topology: Object) -> list[tuple[str, Any, str]]:
    tier, name = topology.get("highestTierAllowed"), topology.get("highestTierName")
    found: list[tuple[str, Any, str]] = []
    if tier is not None and (not isinstance(tier, int) or isinstance(tier, bool)):
        found.append(("highestTierAllowed", tier, "must be a whole number"))
    elif tier is not None and tier < 0:
        found.append(("highestTierAllowed", tier, "must be greater than or equal to 0"))
    if name is not None and not isinstance(name, str):
        found.append(("highestTierName", name, "must be a text"))
    elif name and tier is not None:
        found.append(("highestTierName", name, "must not be set together with highestTierAllowed"))
    return found
