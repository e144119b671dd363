"""
What is wrong with an object, found while it is read: becomes an event and a condition.

Reading never fails. What cannot be understood is left out or takes its default, and a problem says
so; admission refuses most of them before, but an object may be older than our admission.
"""

from dataclasses import dataclass

INVALID_TEMPLATES = "InvalidRoleTemplates"
INVALID_TEMPLATE_REF = "InvalidTemplateRef"
INVALID_DEPENDENCY = "InvalidRoleDependency"
INVALID_GANG = "InvalidGangSchedulingAnnotations"
FAILED_WORKLOAD = "FailedReconcileWorkload"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: the reason of its event, a sentence, and the role if it is one's."""

    reason: str
    message: str
    role: str = ""
