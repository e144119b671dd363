"""
The dashboard's JSON responses: views of workloads and nodes, as ``-o json`` writes them.

Everything is made from the state, without a request to the cluster, but for the gangs that wait.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kohort.apis.api import Key
from kohort.cluster.errors import BadRequest, Invalid, NotFound
from kohort.cluster.objects import Object, annotations_of, metadata_of, uid_of
from kohort.controller.process.gangs import find_known
from kohort.dashboard.state import State, WorkloadId, WorkloadState
from kohort.dashboard.turns import take_turns
from kohort.simulator.stages import FAILED
from kohort.surveys import gather_evidence
from kohort.views.event_lines import ReportedEvent, list_reported
from kohort.views.explain import Explanation, explain, find_culprits, suggest_commands
from kohort.views.forecasts import ForecastView, forecast_picture
from kohort.views.health import judge
from kohort.views.picture import Picture
from kohort.views.residents import GpuUse, Resident, count_gpus, list_residents
from kohort.views.revision_differences import ManifestChange, compare_revisions
from kohort.views.rollouts import HistoryLine, make_history
from kohort.views.table import Row, make_table, select_blocked
from kohort.views.timeline import Timeline
from kohort.views.topology.gangs import explain_gangs
from kohort.views.topology.map import Map, draw_map
from kohort.views.topology.nodes_page import HOSTS_MAX, NodesPage, NodesWish, make_page
from kohort.views.topology.spread import Spread, make_spread
from kohort.views.tree import Tree, make_tree

EVENTS_MAX = 100


@dataclass(frozen=True, slots=True)
class WorkloadPage:
    """The content of the page of one workload."""

    tree: Tree
    why: Explanation
    gpus: GpuUse
    timeline: Timeline
    steps: ForecastView | None  # None: it cannot be planned
    events: tuple[ReportedEvent, ...]  # the newest first
    history: tuple[HistoryLine, ...]
    manifest: ManifestChange | None
    held: tuple[str, ...]  # roles that are paused; an empty name stands for all


class Answers:
    """Makes the responses of the dashboard."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._views: dict[str, Callable[[WorkloadState], Awaitable[Any]]] = {
            "": self._show_tree,
            "why": self._explain,
            "topology": self._show_spread,
            "history": self._show_history,
            "timeline": self._show_timeline,
            "plan": self._forecast,
            "events": self._show_events,
            "page": self._show_page,
        }

    def list_rows(self, *, blocked: bool = False) -> list[Row]:
        """All workloads, or those that need help, the longest waiting first."""
        rows = make_table(held.picture for held in self._state.workloads.values())
        return select_blocked(rows) if blocked else rows

    def find(self, workload: WorkloadId) -> WorkloadState:
        """One workload; raises NotFound."""
        held = self._state.workloads.get(workload)
        if held is None:
            raise NotFound(f"{workload.resource}/{workload.name} does not exist")
        return held

    async def show(self, workload: WorkloadId, view: str) -> Any:
        """One view of one workload."""
        shown = self._views.get(view)
        if shown is None:
            raise NotFound(f"there is no view {view!r}; there are: {', '.join(self._views)}")
        return await shown(self.find(workload))

    async def show_nodes(self, query: Mapping[str, str]) -> NodesPage:
        """Part of the map of the cluster, with residents; others are answered while it is made."""
        owners = await self._list_owners()
        atlas = await self._state.cluster_watch.read_atlas()
        await asyncio.sleep(0)
        drawn = draw_map(atlas)
        await asyncio.sleep(0)
        marked = {name for name, node in atlas.nodes.items() if annotations_of(node).get(FAILED)}
        return make_page(drawn, owners, marked, _read_wish(query))

    async def _list_owners(self) -> dict[Key, Resident]:
        """The pods of all workloads; those of a workload are listed again when it has changed."""
        dialects = [variants[0] for variants in find_known().values()]
        owners: dict[Key, Resident] = {}
        async for held in take_turns(list(self._state.workloads.values())):
            if held.residents is None:
                held.residents = tuple(list_residents([held.picture], dialects))
            owners.update(((each.namespace, each.pod), each) for each in held.residents)
        return owners

    async def draw_map(self) -> Map:
        """The map of the cluster, as ``kohort sim topology`` shows it."""
        return draw_map(await self._state.cluster_watch.read_atlas())

    async def _show_tree(self, held: WorkloadState) -> Tree:
        return _make_tree(held)

    async def _explain(self, held: WorkloadState) -> Explanation:
        picture = held.picture
        evidence = await gather_evidence(self._state.cluster, picture)
        about = [uid_of(picture.root), *(culprit.uid for culprit in find_culprits(picture))]
        return explain(picture, self._list_events(about), explain_gangs(picture, evidence))

    async def _show_spread(self, held: WorkloadState) -> Spread:
        return make_spread(held.picture, await self._state.cluster_watch.read_atlas())

    async def _show_history(self, held: WorkloadState) -> tuple[HistoryLine, ...]:
        return make_history(held.picture)

    async def _forecast(self, held: WorkloadState) -> ForecastView:
        view = forecast_picture(held.picture)
        if view is None:
            raise Invalid(f"{held.picture.reference} cannot be planned: {held.picture.fault}")
        return view

    async def _show_timeline(self, held: WorkloadState) -> Timeline:
        return held.record.read()

    async def _show_events(self, held: WorkloadState) -> tuple[ReportedEvent, ...]:
        uids = _list_uids(held.picture)
        found = list_reported(self._list_events(uids), frozenset(uids))
        return tuple(reversed(found[-EVENTS_MAX:]))

    async def _show_page(self, held: WorkloadState) -> WorkloadPage:
        return WorkloadPage(
            tree=_make_tree(held),
            why=await self._explain(held),
            gpus=count_gpus(held.picture),
            timeline=held.record.read(),
            steps=forecast_picture(held.picture),
            events=await self._show_events(held),
            history=make_history(held.picture),
            manifest=compare_revisions(held.picture),
            held=held.picture.held,
        )

    def _list_events(self, uids: list[str]) -> list[Object]:
        found = self._state.cluster_watch.list_events(dict.fromkeys(uids))
        return sorted(found, key=lambda event: str(metadata_of(event).get("name")))


def _read_wish(query: Mapping[str, str]) -> NodesWish:
    """What a page of nodes wants, from its query: ``search``, ``hosts``, ``whole``."""
    hosts = query.get("hosts", str(HOSTS_MAX))
    if not hosts.isdecimal():
        raise BadRequest(f"hosts must be a number, not {hosts!r}")
    return NodesWish(
        search=query.get("search", ""),
        hosts=int(hosts),
        whole=frozenset(query.get("whole", "").split(",")),
    )


def _list_uids(picture: Picture) -> list[str]:
    """The uids of a workload and of all its children."""
    held = picture.sample.snapshot.children.values()
    children = (child.metadata.uid for found in held for child in found)
    return list(dict.fromkeys((uid_of(picture.root), *children)))


def _make_tree(held: WorkloadState) -> Tree:
    picture = held.picture
    return make_tree(picture, suggest_commands(picture, judge(picture)), unfold=True)
