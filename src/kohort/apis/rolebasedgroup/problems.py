"""
Problems that the operator finds while it reads an object; each becomes an event and a condition.

Reading never fails. The reader drops or defaults a field that it cannot use, and reports a problem.
Admission refuses most such objects, but an object may be older than our admission.
"""

from dataclasses import dataclass

INVALID_TEMPLATES = "InvalidRoleTemplates"
INVALID_TEMPLATE_REF = "InvalidTemplateRef"
INVALID_DEPENDENCY = "InvalidRoleDependency"
INVALID_GANG = "InvalidGangSchedulingAnnotations"
FAILED_WORKLOAD = "FailedReconcileWorkload"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the reason for its event, a sentence, and the role that it concerns, if any."""

    reason: str
    message: str
    role: str = ""
