"""
One edit on the embedded cluster, without faults: what was foretold, and what then happened.

Both are written in the same way: for each step the moves of units (``-2`` goes, ``+2`` comes,
``~2`` is updated in place; an instance of a role is ``decode 0/2``, with its group first), how many
units were ready at least, and how many in the end. A step ends when units become ready. Moves of
one step happen at once, so they are sorted. Instances that another controller makes have no
ordinals that can be foretold: each of them is ``web ?``.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from kohort.apis.served import APIS
from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving, labels_of
from kohort.forecast.forecast import Assumptions, forecast, has_groups
from kohort.forecast.starts import measure_starts
from kohort.forecast.values import Ending, Forecast, Move, UnitMove
from kohort.model.units import GROUPS
from kohort.simulation.checkers.truth import Commit, Group, Truth, is_ready
from kohort.simulation.harness import Harness
from kohort.simulation.known import find_simulated
from kohort.simulation.rolebasedgroup.labels import ROLE
from kohort.simulation.scenario import NAME, Scenario
from kohort.simulation.virtual_loop import run_virtually
from kohort.simulator.builtins.deployments.controller import Deployments
from kohort.simulator.builtins.deployments.replicasets import ReplicaSets
from kohort.simulator.stages import LOAD, PULL, READY, START, STOP
from kohort.views.samples import gather

SIGNS = {Move.DELETE: "-", Move.CREATE: "+", Move.UPDATE: "~"}
CARRIED = "w"  # the role of a RoleBasedGroup that another controller may carry
SILENCE_SECONDS = 60.0
SETTLE_SECONDS_MAX = 3_000.0
MOMENT_SECONDS = 0.1
# All pods take the same time, so that units which start together are ready together.
TIMES = {
    PULL.annotation: "2s",
    START.annotation: "1s",
    LOAD.annotation: "1s",
    READY.annotation: "4s",
    STOP.annotation: "0s",
}


@dataclass(frozen=True)
class Told:
    """One step, as it was foretold or as it happened."""

    moves: tuple[str, ...]
    least: tuple[tuple[str, int], ...]
    after: tuple[tuple[str, int], ...]


@dataclass
class Run:
    """What was foretold of an edit, and what happened."""

    foretold: list[Told]
    happened: list[Told]
    ending: Ending
    seconds: float  # foretold
    took: float


Edit = Callable[[Object], Object]  # from a workload to the change of its spec


def run_edit(scenario: Scenario, edit: Edit, prepare: Edit | None = None) -> Run:
    """
    Make the workload of a scenario, let it rest, change its spec, and let it rest again.

    ``prepare`` changes the workload before it is made, so that Deployments may carry its roles.
    """
    return run_virtually(lambda: _run(scenario, edit, prepare))


async def _run(scenario: Scenario, edit: Edit, prepare: Edit | None) -> Run:
    simulated = find_simulated(scenario.api)
    if prepare is not None:
        simulated = replace(simulated, parts=(*simulated.parts, Deployments, ReplicaSets))
    harness = await Harness.open(scenario, simulated)
    harness.start()
    try:
        asked = simulated.make_workload(scenario, True)
        made = _set_times(prepare(asked) if prepare else asked)
        for kind, obj in simulated.make_others(scenario):
            await harness.create(kind, obj)
        await harness.create(simulated.kind, made)
        await _settle(harness)
        live = harness.truth.workload
        assert live is not None
        spec = _set_times(edit(live))
        changed = _merge(live, {"spec": spec})
        told, by_groups = _foretell(harness, changed)
        witness = Witness(harness.truth, by_groups)
        harness.truth.listeners.append(witness.see)
        begun = harness.clock.elapsed()
        await harness.patch(simulated.kind, NAME, {"spec": spec})
        await _settle(harness)
    finally:
        await harness.close()
    took = witness.last - begun
    steps = _write_forecast(told, by_groups)
    return Run(steps, witness.finish(), told.ending, told.seconds, took)


async def _settle(harness: Harness) -> None:
    """Wait until nothing has been written for a while."""
    end, seen, since = harness.clock.elapsed() + SETTLE_SECONDS_MAX, -1, 0.0
    while harness.clock.elapsed() < end:
        await asyncio.sleep(1.0)
        harness.check_alive()
        if len(harness.truth.log) != seen:
            seen, since = len(harness.truth.log), harness.clock.elapsed()
        elif harness.clock.elapsed() - since > SILENCE_SECONDS:
            return
    raise AssertionError("the cluster does not come to rest")


def _set_times(value: Any) -> Any:
    """The object with the times of all its pod templates fixed."""
    if isinstance(value, list):
        return [_set_times(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _set_times(each) for key, each in value.items()}
    if isinstance(found.get("spec"), dict) and "containers" in found["spec"]:
        metadata = found.get("metadata") or {}
        notes = {**(metadata.get("annotations") or {}), **TIMES}
        found["metadata"] = {**metadata, "annotations": notes}
    return found


def _merge(value: Any, patch: Any) -> Any:
    if not isinstance(value, dict) or not isinstance(patch, dict):
        return patch
    return {**value, **{key: _merge(value.get(key), each) for key, each in patch.items()}}


def _foretell(harness: Harness, root: Object) -> tuple[Forecast, bool]:
    kind = harness.simulated.kind
    api = next(api for api in APIS if api.kind == kind)
    children = {
        kind: [orjson.dumps(obj) for obj in held.values()]
        for kind, held in harness.truth.objects.items()
    }
    deployments = harness.truth.api.registry.of(kinds.DEPLOYMENT).bucket
    entries = harness.truth.api.store.bucket(deployments).entries.values()
    children[kinds.DEPLOYMENT] = [entry.raw for entry in entries]
    (sample,) = gather(api, [orjson.dumps(root)], children)
    reading = api.read_checked(sample.snapshot)
    measured = measure_starts(reading.observed)
    now = harness.clock.now().timestamp()
    told = forecast(reading.workload, reading.observed, now, Assumptions(measured.seconds))
    return told, has_groups(reading.workload)


def _write_forecast(told: Forecast, by_groups: bool) -> list[Told]:
    return [
        Told(
            tuple(sorted(_write_move(m) for m in step.moves if not by_groups or m.line == GROUPS)),
            tuple(sorted(step.least.items())),
            tuple(sorted(step.after.items())),
        )
        for step in told.steps
    ]


def _write_move(move: UnitMove) -> str:
    if move.line == GROUPS:
        return f"{SIGNS[move.move]}{move.ordinal}"
    if move.line.role == CARRIED:
        return f"{SIGNS[move.move]}{CARRIED} ?"
    return f"{SIGNS[move.move]}{move.line.role} {move.line.group}/{move.ordinal}"


# By name: the uids of what it consists of, whether it is ready, and what it is made from.
Units = dict[str, tuple[frozenset[str], bool, str]]


def list_units(truth: Truth, by_groups: bool) -> Units:
    """The units that do not leave, by the names that moves have."""
    found: Units = {}
    if by_groups:
        return {str(g.ordinal): (_list_uids(g), g.is_ready, "") for g in truth.groups()}
    for line in truth.lines():
        if not line.is_inner or line.carried is not None:
            continue
        group = line.name.split()[1] if line.name.startswith("group ") else "0"
        role = line.role or line.name.split()[-1]
        for unit in line.units:
            made_of = str(sorted(map(str, getattr(unit, "contents", ()))))
            uids = frozenset({unit.uid})
            found[f"{role} {group}/{unit.ordinal}"] = (uids, unit.is_ready, made_of)
    return {**found, **_list_carried(truth)}


def _list_carried(truth: Truth) -> Units:
    """The pods of the role that another controller carries: each is an instance."""
    found: Units = {}
    for pod in truth.objects[kinds.POD].values():
        if labels_of(pod).get(ROLE) == CARRIED and not is_leaving(pod):
            uid = pod["metadata"]["uid"]
            found[f"{CARRIED} ?{uid}"] = (frozenset({uid}), is_ready(pod), "")
    return found


def _list_uids(group: Group) -> frozenset[str]:
    return frozenset(pod["metadata"]["uid"] for pod in group.members)


def _find_moves(before: Units, now: Units) -> list[str]:
    """What went, what came and what was updated; a group may do so pod by pod."""
    moves = []
    for name in {*before, *now}:
        old, new = before.get(name, _NOTHING), now.get(name, _NOTHING)
        if old[0] - new[0]:
            moves.append(f"-{name}")
        if new[0] - old[0]:
            moves.append(f"+{name}")
        if old[0] == new[0] and old[2] != new[2]:
            moves.append(f"~{name}")
    return moves


_NOTHING: tuple[frozenset[str], bool, str] = (frozenset(), False, "")


@dataclass
class Witness:
    """
    Sees every write, and notes what units do.

    What happens within a tenth of a second happens at one moment, and units that become ready at
    that moment do so before anything else: a StatefulSet and the operator delete groups of one
    step a few hundredths of a second apart.
    """

    truth: Truth
    by_groups: bool
    steps: list[Told] = field(default_factory=list)
    last: float = 0.0
    _units: Units = field(default_factory=dict)
    _seen: list[tuple[float, list[str], Units, Units]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._units = list_units(self.truth, self.by_groups)
        self._roles = sorted({name.rpartition(" ")[0] for name in self._units})

    def see(self, commit: Commit) -> None:
        """Compare what is with what was."""
        before, now = self._units, list_units(self.truth, self.by_groups)
        moves = _find_moves(before, now)
        if moves or self._count(before) != self._count(now):
            self._seen.append((commit.at, moves, before, now))
            self.last = commit.at
        self._units = now

    def finish(self) -> list[Told]:
        """All steps."""
        moves: list[str] = []
        level = least = self._count(self._seen[0][2]) if self._seen else Counter()
        has_risen = False
        for moment in self._list_moments():
            risen, gone, made = moment
            level = level + risen
            has_risen = has_risen or (bool(risen) and bool(moves))
            if made and has_risen:
                self._close(moves, least, level)
                moves, has_risen, least = [], False, level
            moves = [*moves, *made]
            level = level - gone
            least = Counter({role: min(least[role], level[role]) for role in self._roles})
        if moves:
            self._close(moves, least, level)
        return self.steps

    def _list_moments(self) -> Iterator[tuple[Counter[str], Counter[str], list[str]]]:
        """Units that became ready, ready units that went, and all moves, moment by moment."""
        rest = self._seen
        while rest:
            end = rest[0][0] + MOMENT_SECONDS
            now = [each for each in rest if each[0] <= end]
            rest = rest[len(now) :]
            first, last = self._count(now[0][2]), self._count(now[-1][3])
            risen, gone = Counter[str](), Counter[str]()
            for _, _, before, after in now:
                old, new = self._count(before), self._count(after)
                risen += new - old
                gone += old - new
            assert Counter(first) + risen - gone == +last
            yield risen, gone, [move for _, moves, _, _ in now for move in moves]

    def _close(self, moves: list[str], least: Counter[str], after: Counter[str]) -> None:
        self.steps.append(
            Told(
                tuple(
                    sorted(
                        f"{move.partition('?')[0]}?" if "?" in move else move for move in set(moves)
                    )
                ),
                tuple((role, least[role]) for role in self._roles),
                tuple((role, after[role]) for role in self._roles),
            )
        )

    def _count(self, units: Units) -> Counter[str]:
        return Counter(name.rpartition(" ")[0] for name, unit in units.items() if unit[1])
