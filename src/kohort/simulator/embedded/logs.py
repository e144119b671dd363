"""
The source of container logs for the API server's log subresource.

Lines are computed from the pod's status, so to follow a log is to follow the pod: when
it changes there may be new lines, and when it is deleted or has ended the log ends.
"""

from collections.abc import AsyncGenerator, Sequence

import orjson

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import ListOptions
from kohort.apiserver.server.logs import LogLine
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, name_of, namespace_of, uid_of
from kohort.cluster.selectors import FieldSelector
from kohort.simulator.kubelet.logs import render_log
from kohort.simulator.stages import KubeletStages

_ENDED = ("Succeeded", "Failed")


class ContainerLogs:
    """The logs of all containers of a cluster."""

    def __init__(self, api: ApiServer, stages: KubeletStages | None = None) -> None:
        self._api = api
        self._stages = stages or KubeletStages()

    def lines(self, pod: Object, container: str, *, previous: bool) -> Sequence[LogLine]:
        """All lines written so far, oldest first."""
        now = self._api.context.clock()
        found = render_log(pod, container, previous=previous, now=now, stages=self._stages)
        return [LogLine(time, text) for time, text in found or ()]

    async def follow(
        self, pod: Object, container: str, after: int
    ) -> AsyncGenerator[LogLine, None]:
        """The lines as they are written; ends with the pod."""
        only = FieldSelector((("metadata.name", True, name_of(pod)),))
        target = self._api.target(POD, namespace_of(pod))
        watch = self._api.watch(target, ListOptions(fields=only), initial=True, bookmarks=False)
        told = after
        try:
            while events := await watch.batch():
                latest = orjson.loads(events[-1].raw)
                lines = self.lines(latest, container, previous=False)
                for line in lines[told:]:
                    yield line
                told = max(told, len(lines))
                if events[-1].type == "DELETED" or not _goes_on(latest, pod):
                    return
        finally:
            watch.close()


def _goes_on(latest: Object, pod: Object) -> bool:
    return uid_of(latest) == uid_of(pod) and latest.get("status", {}).get("phase") not in _ENDED
