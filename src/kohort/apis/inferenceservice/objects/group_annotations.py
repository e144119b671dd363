"""
Annotations of a service that say how the roles of its RoleBasedGroup are updated.

Admission refuses a wrong value, so that the user is told at once; the plan refuses it as well,
since the annotation may be older than the webhook. An empty value is as good as none.
"""

from collections.abc import Collection, Iterator, Mapping

from kohort.apis.amounts import find_percent
from kohort.apis.inferenceservice import labels, reasons
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.cluster.numbers import find_whole

UPDATE_TYPES = ("InPlaceIfPossible", "InPlaceOnly", "RecreatePod")


def read_update_type(annotations: Mapping[str, str]) -> str:
    """How roles are updated; raises ServiceError."""
    _refuse_faults(annotations, labels.UPDATE_TYPE)
    return annotations.get(labels.UPDATE_TYPE) or UPDATE_TYPES[0]


def find_skew(annotations: Mapping[str, str]) -> int | str | None:
    """How far roles may be apart in a rollout: a number or a percentage; raises ServiceError."""
    _refuse_faults(annotations, labels.COORDINATION_SKEW)
    text = annotations.get(labels.COORDINATION_SKEW) or None
    whole = find_whole(text) if text else None
    return text if whole is None else whole


def read_ratio(text: str, roles: Collection[str]) -> dict[str, int]:
    """Replicas by role, from a text such as ``engine=1,decoder=2``; raises ServiceError."""
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        role, _, units = part.partition("=")
        count = find_whole(units.strip())
        if role.strip() not in roles or not count:
            raise ServiceError(
                reasons.WORKLOAD,
                f"annotation {labels.COORDINATION_RATIO} must name components of the service with "
                f"whole numbers above 0, such as engine=1,decoder=2, not {part!r}",
            )
        found[role.strip()] = count
    return found


def find_faults(annotations: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each annotation with a wrong value, and what it must be."""
    kind = annotations.get(labels.UPDATE_TYPE)
    if kind and kind not in UPDATE_TYPES:
        yield labels.UPDATE_TYPE, f"must be one of {', '.join(UPDATE_TYPES)}"
    skew = annotations.get(labels.COORDINATION_SKEW)
    if skew and find_percent(skew) is None and find_whole(skew) is None:
        why = "must be a whole number that is not negative, or a percentage such as 10%"
        yield labels.COORDINATION_SKEW, why


def _refuse_faults(annotations: Mapping[str, str], wanted: str) -> None:
    for key, why in find_faults(annotations):
        if key == wanted:
            text = f"annotation {key} {why}, not {annotations[key]!r}"
            raise ServiceError(reasons.WORKLOAD, text)
