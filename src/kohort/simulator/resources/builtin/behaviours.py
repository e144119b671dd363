"""
The behaviours of the built-in kinds, by group and plural.

A feature gate changes a behaviour, never a row: what a gate would drop is
dropped here, so the rest of the server does not know of gates.
"""

from kohort.simulator.resources.resource import Behaviour


def builtin_behaviours(gates: frozenset[str] = frozenset()) -> dict[str, Behaviour]:
    """How objects of each built-in kind are written, with these feature gates on."""
    return {}
