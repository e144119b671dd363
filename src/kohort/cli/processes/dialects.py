"""
This is where the operator of an embedded cluster is told whose gangs it makes.

The cluster is made for the dialect, so nothing has to be asked of it: of the variants
of one scheduler the newest is spoken that the kinds which we define can serve.
"""

from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Tier, Tiers
from kohort.cli.exits import UsageError
from kohort.cli.parsing import suggest
from kohort.cluster.objects import Kind
from kohort.cluster.places import HOST, RACK, SPINE

# What a tier is in an embedded cluster, for dialects that know tiers by labels of nodes.
TIERS = Tiers((Tier(0, "host", HOST), Tier(1, "rack", RACK), Tier(2, "spine", SPINE)), True)


def check_gang(name: str, carrier: str) -> None:
    """Refuse the name of a dialect that nobody speaks, or that the carrier cannot be told."""
    from kohort.controller.running.gangs import find_known

    known = find_known()
    if name and name not in known:
        raise UsageError(
            f"--gang {name}: unknown scheduler{suggest(name, known)}; known: {', '.join(known)}"
        )
    if carrier != "pods" and any(gang.marks_first for gang in find_gangs(name)):
        raise UsageError(f"--gang {name} needs pods that the operator makes itself: --carrier pods")


def find_gangs(name: str) -> tuple[Dialect, ...]:
    """The dialect of that name, as this cluster serves it; none for an empty name."""
    from kohort.controller.running.gangs import find_known

    if not name:
        return ()
    variants = find_known()[name]
    defined = _list_kinds(name)
    served = [v for v in variants if defined.issuperset((*v.kinds, *v.needs))]
    return ((served or variants)[0],)


def _list_kinds(name: str) -> set[Kind]:
    return {
        Kind(
            spec["group"],
            version["name"],
            spec["names"]["kind"],
            spec["names"]["plural"],
            spec["scope"] == "Namespaced",
        )
        for spec in (found["spec"] for found in definitions_of(name))
        for version in spec["versions"]
    }
