"""
The APIs that Kohort knows, by the names that ``--apis`` takes. To add one is to add a line here.

A name may stand for several values: the kinds of one upstream controller. The operator uses the
home of the first API, whichever of them are served.

Another package adds an API by an entry point in the group ``kohort.apis``, whose name is that of
``--apis`` and whose object is an ``Api`` or a sequence of them. One that cannot be used stops no
command that does not name it; ``--apis`` says why it cannot.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points

from kohort.apis.api import Api
from kohort.apis.bridges.carried_lws import carry_by_serving
from kohort.apis.inferenceservice.accelerator_class import ACCELERATOR_CLASS
from kohort.apis.inferenceservice.api import INFERENCE_SERVICE
from kohort.apis.inferenceservice.base_model import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.modelserving.api import FORMER_MODEL_SERVING, MODEL_SERVING
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.group_set.api import ROLE_BASED_GROUP_SET
from kohort.apis.rolebasedgroup.single_role.api import ROLE_INSTANCE, ROLE_INSTANCE_SET
from kohort.apis.rolebasedgroup.warmup.api import ROLE_BASED_GROUP_WARMUP

ENTRY_POINTS = "kohort.apis"
BUILT_INS: Mapping[str, tuple[Api, ...]] = {
    "lws": (LEADER_WORKER_SET,),
    "ms": (MODEL_SERVING, FORMER_MODEL_SERVING),
    "rbg": (
        ROLE_BASED_GROUP,
        ROLE_BASED_GROUP_SET,
        ROLE_BASED_GROUP_WARMUP,
        ROLE_INSTANCE_SET,
        ROLE_INSTANCE,
    ),
    "isvc": (INFERENCE_SERVICE, BASE_MODEL, CLUSTER_BASE_MODEL, ACCELERATOR_CLASS),
}


def read_values(name: str, found: object) -> tuple[Api, ...]:
    """The APIs that an entry point names; raises ValueError."""
    values = tuple(found) if isinstance(found, Sequence) else (found,)
    kept = tuple(value for value in values if isinstance(value, Api))
    if not values or len(kept) < len(values):
        raise ValueError(f"it must be an Api or several, not {type(found).__name__}")
    if name in BUILT_INS or not name.isprintable() or "," in name:
        raise ValueError(f"{name!r} is no name for an API, or is one of Kohort's own")
    own = {(api.kind.group, api.kind.name): api for apis in BUILT_INS.values() for api in apis}
    for api in kept:
        if (api.kind.group, api.kind.name) in own:
            raise ValueError(f"Kohort serves {api.kind.name} ({api.kind.group}) itself")
        if api.short_name in {each.short_name for each in own.values()}:
            raise ValueError(f"Kohort has an API with the short name {api.short_name}")
    return kept


def _load() -> tuple[Mapping[str, tuple[Api, ...]], Mapping[str, str]]:
    """The APIs of other packages by name, and why those that cannot be used cannot."""
    found: dict[str, tuple[Api, ...]] = {}
    faults: dict[str, str] = {}
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        try:
            found[point.name] = read_values(point.name, point.load())
        except Exception as error:
            faults[point.name] = f"{type(error).__name__}: {error}"
    return found, faults


_LOADED, _FAULTS = _load()
KNOWN: Mapping[str, tuple[Api, ...]] = {**BUILT_INS, **_LOADED}
# A user who replaces one controller on a real cluster must not replace another unasked.
USUAL = ("lws",)
# If both are served, a ModelServing may carry a LeaderWorkerSet.
_CARRIED = carry_by_serving(LEADER_WORKER_SET)


def _join(apis: Iterable[Api]) -> tuple[Api, ...]:
    """The APIs; with ModelServing, LeaderWorkerSet gets one more carrier."""
    found = tuple(apis)
    if MODEL_SERVING not in found:
        return found
    return tuple(_CARRIED if api is LEADER_WORKER_SET else api for api in found)


APIS: tuple[Api, ...] = _join(api for apis in KNOWN.values() for api in apis)
OPERATOR_HOME = LEADER_WORKER_SET.home


def read_apis(text: str) -> tuple[str, ...]:
    """Names of APIs from a text such as ``lws,rbg``, each once; raises ValueError."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name in _FAULTS and name not in KNOWN:
            raise ValueError(f"names {name!r}, which cannot be loaded: {_FAULTS[name]}")
        if name not in KNOWN:
            raise ValueError(
                f"must be one of {', '.join(KNOWN)}, or several with commas, not {name!r}"
            )
    return names


def choose_apis(names: tuple[str, ...]) -> tuple[Api, ...]:
    """The APIs of these names, in the order of the registry; without names, the default ones."""
    chosen = names or USUAL
    return _join(api for name, apis in KNOWN.items() if name in chosen for api in apis)
