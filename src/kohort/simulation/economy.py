"""
O4: nothing is made or deleted more often than a run without failures needs.

The same scenario is run again with the user's edits and nothing else. A fault of requests, watches
or processes is no reason to create or delete an object once more. A fault that takes pods or
objects may cost one create and one delete more of each object; so may each edit after the first,
since the faults may have changed the state that it meets.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from kohort.cluster import kinds
from kohort.simulation.checkers.truth import CHILDREN
from kohort.simulation.faults import CATALOGUE
from kohort.simulation.faults.catalogue import HARMLESS
from kohort.simulation.known import find_simulated_of
from kohort.simulation.run import MakeChecker, Outcome, simulate
from kohort.simulation.scenario import NAME, Fault, Scenario
from kohort.simulation.simulated_api import EARLIER

COMPARED_EACH = 8  # a reference costs as much as a run
# Kubernetes' alphabet of hashes; ours end with a number.
_HASH = re.compile(rf"-({EARLIER})?[2-9bcdfghjklmnpqrstvwxz]{{4,10}}(-\d+)?$")
# Faults that may cost more than one create or delete of each object. A pod that vanished, or that a
# StatefulSet made anew because another client edited its template, is made once more with its
# group.
_COSTS = {
    "bad-roll": 2,
    "fleeting-roll": 6,
    "recreate": 2,
    "crash-loop": 2,
    "node-loss": 2,
    "vanish": 2,
    "restart-set": 2,
    "set-image": 2,
    "swap-set": 3,
    "upgrade": 0,
}


def simulate_with_economy(scenario: Scenario, observers: Sequence[MakeChecker] = ()) -> Outcome:
    """Run a scenario; one of eight good ones is compared with a run without failures."""
    outcome = simulate(scenario, observers)
    if not outcome.is_good or scenario.seed % COMPARED_EACH != 3:
        return outcome
    if outcome.is_restless:
        # Without failures that unit may have been made before the user set such a template.
        return outcome
    return replace(outcome, breaches=compare_economy(outcome))


def allowance_of(scenario: Scenario) -> int:
    """How many more creates or deletes of each object the faults of a scenario excuse."""
    edits = [fault for fault in scenario.faults if CATALOGUE[fault.name].is_edit]
    costly = [f for f in scenario.faults if f.name not in HARMLESS and f not in edits]
    # A clock that jumped forward makes a fleeting template look trusted, so its rollout goes on.
    is_hasty = scenario.has("clock-jump") and scenario.has("fleeting-roll")
    # The run without failures has no latency: groups serve sooner, and a bad template takes fewer.
    is_early = scenario.latency > 0 and bool(edits) and edits[0].name in _COSTS
    paid = edits if is_hasty or is_early else edits[1:]
    costs = [_COSTS.get(fault.name, 1) for fault in (*paid, *costly)]
    return sum(costs)


def without_failures(scenario: Scenario) -> Scenario:
    """The same scenario with nothing but the user's edits."""

    def stays(fault: Fault) -> bool:
        return CATALOGUE[fault.name].is_edit

    return replace(scenario, faults=tuple(filter(stays, scenario.faults)), latency=0.0, replicas=1)


def compare_economy(outcome: Outcome) -> tuple[str, ...]:
    """O4: objects that were made or deleted more often than in the same run without failures."""
    reference = simulate(without_failures(outcome.scenario))
    # Two versions give one revision two names, and the reference knows one version.
    name_of = _without_hash if outcome.scenario.has("upgrade") else _as_is
    needed, allowance = count_changes(reference, name_of), allowance_of(outcome.scenario)
    return tuple(
        f"O4: {kind} {name} was {change} {count} times, and {needed[change, kind, name]} times "
        f"without failures"
        for (change, kind, name), count in sorted(count_changes(outcome, name_of).items())
        if count > needed[change, kind, name] + allowance
    )


def _as_is(kind: str, name: str) -> str:
    return name


def _without_hash(kind: str, name: str) -> str:
    """The name of a revision without its hash."""
    return _HASH.sub("", name) if kind == kinds.CONTROLLER_REVISION.name else name


def _match_random(scenario: Scenario) -> Callable[[str], bool]:
    """
    Whether a name is of an instance without an ordinal, or of its pod: no two runs share it.

    A ReplicaSet is named by a hash of its template, and its pods by chance.
    """
    roles = "".join(scenario.stateless.split())
    # A set by hand has the name of the workload, and no name of a role.
    found = re.compile(rf"{NAME}-([{roles}]-)?[a-z0-9]{{5}}(-.*)?") if roles else None
    pairs = (each.split() for each in scenario.carried.split(", ") if each)
    deployed = "".join(name for name, kind in pairs if kind == kinds.DEPLOYMENT.name)
    patterns = [found] if found else []
    if deployed:
        patterns.append(re.compile(rf"{NAME}-[{deployed}]-[a-z0-9]{{6,10}}(-[a-z0-9]{{5}})?"))
    return lambda name: any(pattern.fullmatch(name) for pattern in patterns)


def count_changes(
    outcome: Outcome, name_of: Callable[[str, str], str] = _as_is
) -> Counter[tuple[str, str, str]]:
    """How often each child was made and deleted, but for revisions that sets make themselves."""
    found: Counter[tuple[str, str, str]] = Counter()
    ours: set[str] = set()
    simulated = find_simulated_of(outcome.scenario)
    kept = {kind.name for kind in (*CHILDREN, *simulated.children)}
    kept -= {kind.name for kind in simulated.uncounted}
    is_random = _match_random(outcome.scenario)
    for line in outcome.log:
        _, _, change, kind, name, *writer = line.split(" ")
        if kind == kinds.CONTROLLER_REVISION.name and any(writer):
            ours.add(name)
        is_ours = kind != kinds.CONTROLLER_REVISION.name or name in ours
        if change != "MODIFIED" and kind in kept and is_ours and not is_random(name):
            found[change, kind, name_of(kind, name)] += 1
    return found
