"""
The dialects that come with Kohort; entry points may add others.

``auto`` looks for them in this order. Variants of one name are for one scheduler,
the newest first; the first that the cluster serves is used.
"""

from collections.abc import Mapping, Sequence

from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.gangs.dialects import kubernetes, kueue
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.dialects.kai import KAI
from kohort.apis.gangs.dialects.koordinator import KOORDINATOR
from kohort.apis.gangs.dialects.volcano import HYPER_NODE, VOLCANO
from kohort.cluster.objects import Kind

ENTRY_POINTS = "kohort.gangs"
AUTO = "auto"
Known = Mapping[str, tuple[Dialect, ...]]

DIALECTS: Known = {
    "volcano": (VOLCANO,),
    "kai": (KAI,),
    "koordinator": (KOORDINATOR,),
    "coscheduling": (COSCHEDULING,),
    "kubernetes": (kubernetes.V1BETA1, kubernetes.V1ALPHA2),
    "kueue": (kueue.V1BETA2, kueue.V1BETA1),
}

# Objects of this kind declare topology domains; no other dialect has such objects.
DOMAIN: Kind = HYPER_NODE


def read_variants(name: str, found: object) -> tuple[Dialect, ...]:
    """The dialects of an entry point, as variants of one name; raises ValueError."""
    variants = tuple(found) if isinstance(found, Sequence) else (found,)
    kept = tuple(variant for variant in variants if isinstance(variant, Dialect))
    if not variants or len(kept) < len(variants):
        raise ValueError(f"it must be a Dialect or several, not {type(found).__name__}")
    if any(variant.name != name for variant in kept):
        raise ValueError(f"it calls itself {kept[0].name!r}, not {name!r}")
    if name in (AUTO, NONE) or not name or "," in name:
        raise ValueError(f"{name!r} is no name for a dialect")
    return kept
