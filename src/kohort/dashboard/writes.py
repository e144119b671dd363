"""
What a page may change: workloads, by verbs, and the clock and nodes of a simulated cluster.

A verb on a workload is shown with its plan before it is carried out. The plan names the generation
of the object that it was made for, and a write must name the same: a spec that a user has not
seen is not written over.

A cluster is simulated if it has the clock of an embedded cluster. The controls do what
``kohort sim clock`` and ``kohort sim node`` do.
"""

from dataclasses import dataclass
from typing import Any

from kohort.cluster.errors import BadRequest, ClusterError, Conflict, Forbidden, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import NODE
from kohort.cluster.objects import Object, metadata_of
from kohort.cluster.port import Address, Cluster
from kohort.dashboard.answers import Answers
from kohort.dashboard.state import WorkloadId
from kohort.simulator.clock_page import CLOCK_PATH
from kohort.simulator.node_requests import make_failure, make_recovery
from kohort.views.forecasts import ForecastView, forecast_picture
from kohort.views.picture import Picture
from kohort.views.verbs import VERBS, VerbLimits, VerbResult, expect_verbs, put_root

_TRIES = 4


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """The plan of a verb, before it is carried out."""

    verb: str
    text: str
    details: tuple[str, ...]
    is_change: bool  # false: nothing needs to be done
    version: str  # of the object that it was planned for
    forecast: ForecastView | None  # None: it cannot be planned


class Writes:
    """Plans verbs on workloads, and carries them out if writes are allowed."""

    def __init__(self, answers: Answers, cluster: Cluster, *, is_allowed: bool) -> None:
        self._answers = answers
        self._cluster = cluster
        self._is_allowed = is_allowed

    def plan(self, workload: WorkloadId, body: Object) -> TurnPlan:
        """Plan a verb without writing anything."""
        picture = self._answers.find(workload).picture
        verb, result = _read_verb(picture, body)
        changed = picture if result.obj is None else put_root(picture, result.obj)
        return TurnPlan(
            verb=verb,
            text=result.text,
            details=tuple(result.details),
            is_change=result.obj is not None,
            version=_version_of(picture),
            forecast=forecast_picture(changed, picture.root),
        )

    async def carry_out(self, workload: WorkloadId, body: Object) -> TurnPlan:
        """Carry out a verb, if the spec has not changed since its plan was shown."""
        if not self._is_allowed:
            raise Forbidden("this dashboard only reads: start it with --allow-writes")
        plan = self.plan(workload, body)
        picture = self._answers.find(workload).picture
        kind = picture.api.kind
        address = Address(kind, picture.namespace, picture.name)
        for _ in range(_TRIES):
            fresh = put_root(picture, await self._cluster.read(address))
            if body.get("version") != _version_of(fresh):
                raise Conflict("the workload has changed since its plan was shown: look again")
            _, result = _read_verb(fresh, body)
            if result.obj is None:
                return plan
            try:
                typed = {"apiVersion": kind.api_version, "kind": kind.name, **result.obj}
                await self._cluster.update(address, typed)
                return plan
            except Conflict:
                continue  # Only a status was written in between: read again and retry.
        raise Conflict("other clients keep changing the workload: try again")


def _version_of(picture: Picture) -> str:
    """A hash of the spec; the status may change while a user reads the plan."""
    metadata = metadata_of(picture.root)
    return f"{metadata.get('uid')}/{metadata.get('generation')}"


def _read_verb(picture: Picture, body: Object) -> tuple[str, VerbResult]:
    verb, role, revision = str(body.get("verb")), body.get("role"), body.get("revision")
    if verb not in VERBS:
        raise BadRequest(f"verb must be one of {', '.join(VERBS)}, not {verb!r}")
    limits = VerbLimits(_expect_role(picture, role), revision if _is_number(revision) else None)
    return verb, VERBS[verb](picture, expect_verbs(picture), limits)


def _expect_role(picture: Picture, role: Any) -> str:
    if not role:
        return ""
    known = expect_verbs(picture).list_roles(picture.root)
    if role not in known:
        raise BadRequest(f"{picture.reference} has no role {role!r}")
    return str(role)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


_PATCHES = {"fail": make_failure, "recover": make_recovery}


class SimulationControls:
    """Controls the simulation of one cluster, if it is simulated."""

    def __init__(self, cluster: HttpCluster) -> None:
        self._cluster = cluster

    async def read_clock(self) -> Object | None:
        """The clock; None if the cluster is not simulated."""
        try:
            found = await self._cluster.read_document(CLOCK_PATH)
        except ClusterError:
            return None
        return found if "elapsedSeconds" in found else None

    async def change_clock(self, change: Object) -> Object:
        """Pause, resume, step or speed up the clock."""
        await self._expect_simulation()
        return await self._cluster.send_document(CLOCK_PATH, change)

    async def change_node(self, name: str, verb: str) -> None:
        """Let a node fail or recover."""
        if verb not in _PATCHES:
            raise BadRequest(f"a node can {' or '.join(_PATCHES)}, not {verb!r}")
        await self._expect_simulation()
        await self._cluster.patch(Address(NODE, "", name), _PATCHES[verb]())

    async def _expect_simulation(self) -> None:
        if await self.read_clock() is None:
            raise NotFound("this cluster is not simulated, so it has no such controls")
