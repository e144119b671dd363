"""
How many units of roles that another controller carries do not become ready by themselves.

The pods of such a role are no members of the workload's units. They bear the name of the workload
that carries the role, which begins with those of the whole and of the role.
"""

from collections import Counter
from collections.abc import Mapping

from kohort.views.picture import Picture
from kohort.views.troubles import find_trouble


def count_stuck_units(picture: Picture) -> Mapping[str, int]:
    """Stuck units by role; never more than are not ready."""
    assert picture.reading is not None
    observed, found = picture.reading.observed, Counter[str]()
    held = {role.role: role.tally for g in observed.groups for role in g.roles if role.tally}
    if not held:
        return found
    for name in picture.sample.members:
        role = _find_role(picture.name, name, held)
        pod = picture.sample.find_member(name) if role else None
        trouble = find_trouble(pod, 0, picture.now, picture.facts) if pod else None
        if role and trouble is not None and trouble.is_stuck:
            found[role] += 1
    return {role: min(n, max(0, held[role].exist - held[role].ready)) for role, n in found.items()}


def _find_role(workload: str, pod: str, roles: Mapping[str, object]) -> str:
    """The role whose workload a pod is named after; the longest name, if several fit."""
    fitting = [role for role in roles if pod.startswith(f"{workload}-{role}-")]
    return max(fitting, key=len, default="")
