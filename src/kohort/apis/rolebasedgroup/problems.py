"""
Problems that the operator finds while it reads an object; each becomes an event and a condition.

Reading never fails. The reader drops or defaults a field that it cannot use, and reports a problem.
Admission refuses most such objects, but an object may be older than our admission.

The definitions allow two billion pods in an instance, and as many instances. The operator lists
what it plans, so one such object would keep it from all others: it makes none of its pods.
"""

from dataclasses import dataclass

from kohort.apis.amounts import PODS_MAX

INVALID_TEMPLATES = "InvalidRoleTemplates"
INVALID_TEMPLATE_REF = "InvalidTemplateRef"
INVALID_DEPENDENCY = "InvalidRoleDependency"
INVALID_GANG = "InvalidGangSchedulingAnnotations"
FAILED_WORKLOAD = "FailedReconcileWorkload"
INSTANCE_PODS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the reason for its event, a sentence, and the role that it concerns, if any."""

    reason: str
    message: str
    role: str = ""


def find_excess(what: str, replicas: int, size: int, role: str = "") -> list[Problem]:
    """The problem of a role or a set with more pods than the operator makes, if it is one."""
    if size > INSTANCE_PODS_MAX:
        text = f"{what} asks for {size} pods in each instance; at most {INSTANCE_PODS_MAX} are made"
    elif replicas * max(1, size) > PODS_MAX:
        text = (
            f"{what} asks for {replicas} instances of {size} pods; at most {PODS_MAX} pods are made"
        )
    else:
        return []
    return [Problem(FAILED_WORKLOAD, f"{text}: ask for fewer", role)]
