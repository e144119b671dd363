"""
Which gang schedulers the operator supports: those that the user names, or all that are served.

A dialect for each comes with Kohort or from another package, by an entry point in the group
``kohort.gangs``, whose name is the dialect's and whose object is a ``Dialect`` or a sequence of
variants. A dialect that cannot be loaded stops the command with a sentence that names the package:
otherwise the operator would silently create no gangs for the user's scheduler.

Of the variants of one scheduler the operator uses the first whose kinds the API server serves,
checked once at start, since a version number would not tell. Where none is served it uses the
newest, so that a workload that waits for a gang can report what is missing. With ``none`` in
front new groups get no gang, and groups that have one keep it.
"""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.gangs.intent import Tier, Tiers
from kohort.apis.gangs.known import AUTO, DIALECTS, ENTRY_POINTS, Known, read_variants
from kohort.cluster.errors import Forbidden, KohortError, NotFound
from kohort.cluster.objects import Kind
from kohort.cluster.port import Cluster, Selection


class PluginError(KohortError):
    """An entry point of another package cannot be used."""


@cache
def load_dialects() -> Known:
    """All installed dialects by name, loaded once."""
    found = sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)
    return {**DIALECTS, **{entry.name: load_dialect(entry) for entry in found}}


def load_dialect(entry: EntryPoint) -> tuple[Dialect, ...]:
    """The variants that an entry point names; raises PluginError."""
    whose = f"of {entry.dist.name}" if entry.dist else f"at {entry.value}"
    try:
        if entry.name in DIALECTS:
            raise ValueError("Kohort has a dialect of that name")
        return read_variants(entry.name, entry.load())
    except (ImportError, AttributeError, ValueError) as error:
        raise PluginError(f"gang dialect {entry.name} {whose} cannot be used: {error}") from error


# No object has this name, so the list is empty and short, however many objects exist.
_NOBODY = "metadata.name=kohort-asks-whether-this-is-served"


def find_known() -> Known:
    """All installed dialects, by name."""
    return load_dialects()


def read_gangs(text: str, known: Known) -> str:
    """The names of dialects without repeats; raises ValueError if one is unknown."""
    names = [name.strip() for name in text.split(",")]
    for place, name in enumerate(names if text != AUTO else ()):
        if name not in known and (name, place) != (NONE, 0):
            listed = ", ".join([*known, AUTO, NONE])
            raise ValueError(f"must be one of {listed}, or several with commas, not {name!r}")
    return ",".join(dict.fromkeys(names))


def has_usual(text: str) -> bool:
    """Whether workloads that name no dialect get one: not where the first name is ``none``."""
    return text.partition(",")[0] != NONE


def list_variants(text: str, known: Known) -> tuple[Dialect, ...]:
    """All variants of the named dialects, whether the cluster serves them or not."""
    names = _split(text, known)
    return tuple(dialect for name in names for dialect in known[name])


async def choose_dialects(cluster: Cluster, text: str, known: Known) -> tuple[Dialect, ...]:
    """The dialects to use on this cluster, the default one first."""
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
        # The operator may not use the kind, whether it is served or not.
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
    """The tiers of all flags, nearest first; of equal numbers the last flag counts."""
    by_number = {tier.number: tier for tier in tiers}
    found = tuple(by_number[number] for number in sorted(by_number))
    return Tiers(found, are_known=True)
