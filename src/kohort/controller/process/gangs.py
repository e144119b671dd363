"""
Which dialects an operator speaks: those that it was told, or all that the cluster serves.

Of variants of one scheduler the first is used whose kinds are served, asked once at
start: a version number would not tell. Where none is served the newest stands for
all, so that whoever waits for a gang is told what is missing. With ``none`` in front
new groups are in no gang, and those that are keep theirs.
"""

from collections.abc import Iterable

from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.gangs.intent import Tier, Tiers
from kohort.apis.gangs.known import AUTO, Known
from kohort.cluster.errors import Forbidden, NotFound
from kohort.cluster.objects import Kind
from kohort.cluster.port import Cluster, Selection
from kohort.controller.process.dialects import load_dialects

# Nothing has this name, so that the answer is short, however many there are.
_NOBODY = "metadata.name=kohort-asks-whether-this-is-served"


def find_known() -> Known:
    """All dialects that can be spoken, by name."""
    return load_dialects()


def read_gangs(text: str, known: Known) -> str:
    """The names of dialects, if each is known; raises ValueError."""
    names = [name.strip() for name in text.split(",")]
    for place, name in enumerate(names if text != AUTO else ()):
        if name not in known and (name, place) != (NONE, 0):
            listed = ", ".join([*known, AUTO, NONE])
            raise ValueError(f"must be one of {listed}, or several with commas, not {name!r}")
    return ",".join(dict.fromkeys(names))


def has_usual(text: str) -> bool:
    """Whether workloads that name no dialect get one: not where the first name is none."""
    return text.partition(",")[0] != NONE


def list_variants(text: str, known: Known) -> tuple[Dialect, ...]:
    """All dialects that names may come to, whatever a cluster serves."""
    names = _split(text, known)
    return tuple(dialect for name in names for dialect in known[name])


async def choose_dialects(cluster: Cluster, text: str, known: Known) -> tuple[Dialect, ...]:
    """The dialects to speak on this cluster, the usual one first."""
    chosen = []
    for name in _split(text, known):
        variants = known[name]
        if text != AUTO and len(variants) == 1:
            chosen.append(variants[0])
            continue
        served = [variant for variant in variants if await _is_served(cluster, variant)]
        if served or text != AUTO:
            chosen.append(served[0] if served else variants[0])
    return tuple(chosen)


def _split(text: str, known: Known) -> Iterable[str]:
    if text == AUTO:
        return known
    return [name for name in text.split(",") if name not in ("", NONE)]


async def _is_served(cluster: Cluster, dialect: Dialect) -> bool:
    kinds = (*dialect.kinds, *dialect.needs)
    for kind in kinds:
        if not await _serves(cluster, kind):
            return False
    return bool(kinds)


async def _serves(cluster: Cluster, kind: Kind) -> bool:
    try:
        await cluster.list(Selection(kind, fields=_NOBODY))
    except NotFound:
        return False
    except Forbidden:
        # It cannot be used by us, whether it is there or not.
        return False
    return True


def read_tier(text: str) -> Tier:
    """A tier, from a text such as 1=rack=topology.kubernetes.io/rack; raises ValueError."""
    number, _, rest = text.partition("=")
    name, _, label = rest.partition("=")
    if not number.isdecimal() or not (name or label):
        raise ValueError(
            f"must look like 1=rack=topology.kubernetes.io/rack (number, name, label), not {text!r}"
        )
    return Tier(int(number), name, label)


def gather_tiers(tiers: Iterable[Tier]) -> Tiers:
    """All tiers that were told, nearest first; each number once, the last one said."""
    by_number = {tier.number: tier for tier in tiers}
    found = tuple(by_number[number] for number in sorted(by_number))
    return Tiers(found, are_known=True)
