"""
A forecast as people and programs are shown it: steps, capacity, GPUs, time, and what stops it.

``forecast_picture`` is all that a command or a page needs: it takes a picture of a workload, live
or with a change that is not applied, and gives a view. ``to_plain`` of the command line makes
JSON of it as of every other view, and a page that shows the steps to come does the same.

The pods of a role that another controller carries are no members of the workload's units. Such a
pod is matched to its role by its name, which begins with the names of the workload and of the role.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kohort.apis.api import Reading
from kohort.cluster.objects import Object, is_leaving
from kohort.forecast.forecast import START_SECONDS, Assumptions, forecast, has_groups
from kohort.forecast.starts import Starts, measure_starts
from kohort.forecast.tallies import OUTDATED
from kohort.forecast.values import Ending, Forecast, ForecastStep, Move, UnitMove
from kohort.model.policies import RolloutPolicy
from kohort.model.reasons import Blocker
from kohort.model.units import GROUPS, Line
from kohort.model.workload import Workload
from kohort.views.gpus import measure_gpus
from kohort.views.picture import Picture
from kohort.views.rollouts import FieldDifference, find_changes
from kohort.views.troubles import find_trouble

DELETED_NOTE = "it is being deleted: nothing is made, replaced or updated"


@dataclass(frozen=True, slots=True)
class LineView:
    """The units of one line, which people count: groups, or the instances of a role."""

    role: str  # empty: groups
    wanted: int
    ready_before: int
    ready_least: int
    ready_after: int
    kept: int  # units that keep an old revision
    max_unavailable: int
    max_surge: int
    partition: int


@dataclass(frozen=True, slots=True)
class StepView:
    """One step: what goes, what comes, and how many units are ready."""

    number: int
    begins_seconds: float | None  # None: no start was measured
    seconds: float | None
    goes: tuple[str, ...]
    comes: tuple[str, ...]
    updates: tuple[str, ...]  # in place
    ready_least: Mapping[str, int]  # by role; "" for groups
    ready_after: Mapping[str, int]
    pods: int
    gpus: int


@dataclass(frozen=True, slots=True)
class AmountView:
    """Pods or GPUs before, at the peak and after, and how many more the peak needs."""

    before: int
    peak: int
    after: int
    extra: int


@dataclass(frozen=True, slots=True)
class Restart:
    """Units that a change makes anew or updates in place, and the fields that cause it."""

    role: str  # empty: groups
    what: str
    units: int
    why: tuple[str, ...]
    is_in_place: bool = False


@dataclass(frozen=True, slots=True)
class ForecastView:
    """What will happen to a workload if nothing fails."""

    kind: str
    namespace: str
    name: str
    reference: str
    strategy: str
    revision_before: str  # a number, or the start of a key; empty: nothing exists yet
    revision_after: str
    changes: tuple[FieldDifference, ...]
    restarts: tuple[Restart, ...]
    lines: tuple[LineView, ...]
    steps: tuple[StepView, ...]
    pods: AmountView
    gpus: AmountView
    seconds: float | None  # None: no start was measured
    starts: Starts
    ending: Ending
    blockers: tuple[Blocker, ...]
    notes: tuple[str, ...] = ()


def forecast_picture(picture: Picture, live: Object | None = None) -> ForecastView | None:
    """
    What will happen to a workload; None if it cannot be planned, and the picture says why.

    ``live`` is its object as it is stored, where the picture shows a change of it; one with an
    empty spec says that there is none yet.
    """
    reading = picture.reading
    if reading is None:
        return None
    starts = measure_starts(reading.observed)
    root, workload = picture.root, reading.workload
    assumptions = Assumptions(
        starts.seconds if starts.count else START_SECONDS,
        _find_stuck(picture),
        measure_gpus(picture.api, root, picture.sample, workload, reading.observed),
        stuck_units=count_stuck_units(picture),
        is_deleted=is_leaving(root),
    )
    found = forecast(workload, reading.observed, picture.now.timestamp(), assumptions)
    if live is not None:
        changes = find_changes(live["spec"], root["spec"]) if live["spec"] else ()
    else:
        changes = _find_rolling(picture, found)
    return _make_view(picture, workload, found, starts, changes)


def choose_strategy(reading: Reading[object] | None, name: str) -> Reading[object] | None:
    """The reading as if all its lines rolled by this strategy."""
    if reading is None:
        return None
    workload = reading.workload
    roles = tuple(
        role
        if role.rollout is None
        else replace(role, rollout=replace(role.rollout, strategy=name))
        for role in workload.roles
    )
    rollout = replace(workload.rollout, strategy=name)
    return replace(reading, workload=replace(workload, roles=roles, rollout=rollout))


def _find_rolling(picture: Picture, found: Forecast) -> tuple[FieldDifference, ...]:
    """The field differences between the revision that most units have and their target."""
    contents = {revision.key: revision.content for revision in picture.revisions}
    if found.former == found.target or not {found.former, found.target} <= contents.keys():
        return ()
    return find_changes(contents[found.former], contents[found.target])


def _make_view(
    picture: Picture,
    workload: Workload,
    found: Forecast,
    starts: Starts,
    changes: tuple[FieldDifference, ...],
) -> ForecastView:
    before, peak, after = found.amount_before, found.amount_peak, found.amount_after
    has_one_group = not has_groups(workload) and workload.groups == 1
    is_timed = bool(starts.count) or not any(step.seconds for step in found.steps)
    return ForecastView(
        kind=picture.api.kind.name,
        namespace=picture.namespace,
        name=picture.name,
        reference=picture.reference,
        strategy=workload.rollout.strategy,
        revision_before=picture.name_revision(found.former) if found.former else "",
        revision_after=_name_target(picture, found),
        changes=changes,
        restarts=tuple(_list_restarts(workload, found, changes)),
        lines=tuple(_list_lines(workload, found)),
        steps=tuple(_make_step(step, is_timed, has_one_group) for step in found.steps),
        pods=AmountView(before.members, peak.members, after.members, found.extra.members),
        gpus=AmountView(before.gpus, peak.gpus, after.gpus, found.extra.gpus),
        seconds=found.seconds if is_timed else None,
        starts=starts,
        ending=found.ending,
        blockers=found.blockers if found.ending is Ending.BLOCKED else (),
        notes=tuple(_list_notes(found)),
    )


def _find_stuck(picture: Picture) -> frozenset[str]:
    """The incarnations of units whose members do not start by themselves."""
    assert picture.reading is not None
    names = {trouble.member for trouble in picture.stuck}
    found = set()
    for group in picture.reading.observed.groups:
        units = [i for role in group.roles for i in role.instances] if group.roles else [group]
        for unit in units:
            if any(member.name in names for member in unit.members):
                found.add(unit.incarnation)
    return frozenset(found)


def _name_target(picture: Picture, found: Forecast) -> str:
    """The number that the target has or will get."""
    numbers = [r.number for r in picture.revisions if r.key == found.target]
    if numbers:
        return str(numbers[-1])
    return str(max((r.number for r in picture.revisions), default=0) + 1)


def _make_step(step: ForecastStep, is_timed: bool, has_one_group: bool) -> StepView:
    return StepView(
        number=step.number,
        begins_seconds=step.begins if is_timed else None,
        seconds=step.seconds if is_timed else None,
        goes=_name_units(step.moves, Move.DELETE, has_one_group),
        comes=_name_units(step.moves, Move.CREATE, has_one_group),
        updates=_name_units(step.moves, Move.UPDATE, has_one_group),
        ready_least=step.least,
        ready_after=step.after,
        pods=step.amount.members,
        gpus=step.amount.gpus,
    )


def _name_units(moves: Sequence[UnitMove], kind: Move, has_one_group: bool) -> tuple[str, ...]:
    """The units of moves; instances of a group that is made as a whole are not named."""
    made = {move.ordinal for move in moves if move.line == GROUPS and move.move is Move.CREATE}
    chosen = (m for m in moves if m.move is kind and m.line.group not in made)
    return tuple(_name_unit(move, has_one_group) for move in chosen)


def _name_unit(move: UnitMove, has_one_group: bool) -> str:
    """A unit in words: ``group 3``, or ``prefill 2 of group 1``."""
    if move.line == GROUPS:
        return f"group {move.ordinal}"
    where = "" if has_one_group else f" of group {move.line.group}"
    return f"{move.line.role} {move.ordinal}{where}"


def _list_lines(workload: Workload, found: Forecast) -> Iterator[LineView]:
    for name, counts in found.after.items():
        policy = _find_policy(workload, name)
        yield LineView(
            role=name,
            wanted=counts.wanted,
            ready_before=found.before[name].ready,
            ready_least=found.least[name],
            ready_after=counts.ready,
            kept=found.kept.get(name, 0),
            max_unavailable=policy.max_unavailable,
            max_surge=policy.surge,
            partition=policy.partition,
        )


def _find_policy(workload: Workload, name: str) -> RolloutPolicy:
    role = workload.find_role(name) if name else None
    return role.rollout if role is not None and role.rollout is not None else workload.rollout


def _list_restarts(
    workload: Workload, found: Forecast, changes: tuple[FieldDifference, ...]
) -> Iterator[Restart]:
    """The units that exist and are made anew or changed in place, by line, each counted once."""
    moves: dict[tuple[Line, int], list[Move]] = {}
    outdated = set()
    for each in (move for step in found.steps for move in step.moves):
        moves.setdefault((each.line, each.ordinal), []).append(each.move)
        if each.why == OUTDATED:
            outdated.add((each.line, each.ordinal))
    anew, updated = Counter[str](), Counter[str]()
    for (line, ordinal), own in moves.items():
        # A unit whose first move is a create did not exist: it is extra, or the line grows.
        if own[0] is Move.CREATE or (has_groups(workload) and line != GROUPS):
            continue
        role = "" if has_groups(workload) else line.role
        # Where any unit may stand in for any other, the new one may have another ordinal.
        is_anew = Move.CREATE in own or (line, ordinal) in outdated
        anew[role] += is_anew
        updated[role] += Move.UPDATE in own and not is_anew
    for is_in_place, counted in ((False, anew), (True, updated)):
        for role, units in (+counted).items():
            wanted = found.before[role].wanted if role in found.before else units
            what = _name_restarted(role, units, wanted)
            yield Restart(role, what, units, _find_causes(changes, role), is_in_place)


def _find_causes(changes: tuple[FieldDifference, ...], role: str) -> tuple[str, ...]:
    """The changes that restart units: those of their role, or all if none is of it."""
    all_ = [change for change in changes if not _is_scale(change)]
    own = [change for change in all_ if role in change.path.split(".")]
    return tuple(map(str, own or all_))


def _name_restarted(role: str, units: int, wanted: int) -> str:
    noun = f"instance of role {role}" if role else "group"
    if units >= wanted:
        return f"every {noun}"
    return f"{units} of {wanted} {noun.replace(' of', 's of') if role else 'groups'}"


def _is_scale(change: FieldDifference) -> bool:
    return change.path.rpartition(".")[2] == "replicas"


def _list_notes(found: Forecast) -> Iterator[str]:
    if found.ending is Ending.DELETED:
        yield DELETED_NOTE
    if found.ending is Ending.CUT:
        yield f"only the first {len(found.steps)} steps are shown: more follow"
    for role, units in found.kept.items():
        what = f"instances of role {role}" if role else "groups"
        yield f"{units} {what} keep their revision"


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
