"""
Membership: the gang that a pod belongs to, read by its scheduler's labels or fields.

A pod that names a gang in the words of another scheduler is in none: that scheduler
would not see it either.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kohort.apis.gangs.dialects import coscheduling, kai, koordinator, kueue, volcano
from kohort.simulator.scheduling.gangs.requests import GangKey

VOLCANO, COSCHEDULING, KOORDINATOR = "volcano", "coscheduling", "koordinator"
KAI, KUBERNETES, KUEUE = "kai", "kubernetes", "kueue"
DEFAULT_SCHEDULER = "default-scheduler"
# The scheduler that answers for each dialect; others come with the default one.
SCHEDULERS = {
    volcano.VOLCANO.scheduler: VOLCANO,
    coscheduling.COSCHEDULING.scheduler: COSCHEDULING,
    koordinator.KOORDINATOR.scheduler: KOORDINATOR,
    kai.KAI.scheduler: KAI,
}
_LEGACY_VOLCANO = "scheduling.volcano.sh/group-name"
_LEGACY_KOORDINATOR = "pod-group.scheduling.sigs.k8s.io/name"
_ROLE = "volcano.sh/task-spec"

Words = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Naming:
    """The labels and annotations that name a pod's gang in one dialect; the first found counts."""

    annotations: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def find(self, annotations: Words, labels: Words) -> str:
        """The name of the gang; empty if the pod names none."""
        for held, keys in ((annotations, self.annotations), (labels, self.labels)):
            for key in keys:
                if held.get(key):
                    return held[key]
        return ""


_NAMINGS = {
    VOLCANO: Naming((volcano.GROUP_NAME, _LEGACY_VOLCANO)),
    COSCHEDULING: Naming(labels=(coscheduling.POD_GROUP_LABEL,)),
    KOORDINATOR: Naming(
        (koordinator.GANG_NAME,),
        (koordinator.POD_GROUP_LABEL, coscheduling.POD_GROUP_LABEL, _LEGACY_KOORDINATOR),
    ),
    KAI: Naming((kai.GROUP_NAME,)),
    KUEUE: Naming(labels=(kueue.GROUP_NAME,)),
}


def find_gang(
    scheduler: str, namespace: str, annotations: Words, labels: Words, native: str
) -> GangKey | None:
    """The gang of a pod; ``native`` is the group in its spec."""
    if scheduler == DEFAULT_SCHEDULER:
        if native:
            return GangKey(KUBERNETES, namespace, native)
        dialect = KUEUE
    else:
        dialect = SCHEDULERS.get(scheduler, "")
    naming = _NAMINGS.get(dialect)
    name = naming.find(annotations, labels) if naming else ""
    return GangKey(dialect, namespace, name) if name else None


def speaks(scheduler: str, dialect: str) -> bool:
    """Whether a scheduler places the gangs of a dialect."""
    if scheduler == DEFAULT_SCHEDULER:
        return dialect in (KUBERNETES, KUEUE)
    return SCHEDULERS.get(scheduler) == dialect


def find_role(annotations: Words, labels: Words) -> str:
    """The role of a pod in its gang; empty if it has none."""
    return annotations.get(_ROLE) or labels.get(_ROLE) or ""
