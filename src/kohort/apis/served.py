"""
The APIs that Kohort knows, by the names that ``--apis`` takes. To add one is to add a line here.

A name may stand for several values: the kinds of one upstream controller. The operator uses the
home of the first API, whichever of them are served.
"""

from collections.abc import Iterable, Mapping

from kohort.apis.api import Api
from kohort.apis.bridges.carried_lws import carry_by_serving
from kohort.apis.inferenceservice.accelerator_class.api import ACCELERATOR_CLASS
from kohort.apis.inferenceservice.api import INFERENCE_SERVICE
from kohort.apis.inferenceservice.base_model.api import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.modelserving.api import FORMER_MODEL_SERVING, MODEL_SERVING
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.group_set.api import ROLE_BASED_GROUP_SET
from kohort.apis.rolebasedgroup.single_role.api import ROLE_INSTANCE, ROLE_INSTANCE_SET
from kohort.apis.rolebasedgroup.warmup.api import ROLE_BASED_GROUP_WARMUP

KNOWN: Mapping[str, tuple[Api, ...]] = {
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
        if name not in KNOWN:
            raise ValueError(
                f"must be one of {', '.join(KNOWN)}, or several with commas, not {name!r}"
            )
    return names


def choose_apis(names: tuple[str, ...]) -> tuple[Api, ...]:
    """The APIs of these names, in the order of the registry; without names, the default ones."""
    chosen = names or USUAL
    return _join(api for name, apis in KNOWN.items() if name in chosen for api in apis)
