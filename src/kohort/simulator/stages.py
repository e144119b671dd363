"""
Stages of a simulated container's life, and how long each takes.

The table is data, so that a scenario can pass its own. Annotations of a pod or a node
under ``sim.kohort.dev/`` override each stage, and make the pod misbehave.
Jitter comes from a hash of the pod's uid: pods of one set do not move in
lockstep, and the same run gives the same times.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from zlib import crc32

from kohort.cluster.durations import find_seconds
from kohort.cluster.numbers import find_whole

PREFIX = "sim.kohort.dev/"

CRASH_AFTER = f"{PREFIX}crash-after"  # the container ends that long after it started
CRASH_EXIT_CODE = f"{PREFIX}crash-exit-code"
CRASH_CONTAINER = f"{PREFIX}crash-container"  # by default the first one
CRASH_TIMES = f"{PREFIX}crash-times"  # by default every time
RUN_FOR = f"{PREFIX}run-for"  # containers end well after that long
NEVER_READY = f"{PREFIX}never-ready"
PULL_ERROR = f"{PREFIX}pull-error"  # the text of the error
IGNORE_STOP = f"{PREFIX}ignore-stop"  # the container takes its whole grace period
FAILED = f"{PREFIX}failed"  # the node has failed
NOT_READY = f"{PREFIX}not-ready"  # the node says that it cannot run pods
ACCELERATORS = ("/gpu", "/tpu")

_EXIT_CODE_MAX = 255
BACKOFF_SECONDS = 10.0
BACKOFF_SECONDS_MAX = 300.0
# A container that ran this long restarts without backoff.
BACKOFF_FORGOTTEN_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class ContainerStage:
    """One part of a container's life."""

    name: str
    seconds: float
    jitter: float = 0.0  # as a share of the delay
    annotation: str = ""  # overrides the delay, and turns an optional stage on
    is_for_accelerators: bool = False


PULL = ContainerStage("pull", 1.0, 0.2, f"{PREFIX}pull-for")
INIT = ContainerStage("init", 0.5, 0.2, f"{PREFIX}init-for")
START = ContainerStage("start", 0.5, 0.2, f"{PREFIX}start-for")
LOAD = ContainerStage("load", 3.0, 0.2, f"{PREFIX}load-for", is_for_accelerators=True)
READY = ContainerStage("ready", 0.5, 0.0, f"{PREFIX}ready-after")
RUN = ContainerStage("run", 1.0, 0.0, RUN_FOR)  # only of pods that are not restarted
STOP = ContainerStage("stop", 0.5, 0.0, f"{PREFIX}stop-for")


def _is_duration(text: str) -> bool:
    return find_seconds(text.strip()) is not None


def _is_whole(text: str) -> bool:
    return find_whole(text) is not None


def _is_switch(text: str) -> bool:
    return text in ("true", "false")


_DURATIONS = (*(s.annotation for s in (PULL, INIT, START, LOAD, READY, RUN, STOP)), CRASH_AFTER)
# By annotation: the check of its value, and a description for users.
_RULES: dict[str, tuple[Callable[[str], bool], str]] = {
    **dict.fromkeys(_DURATIONS, (_is_duration, "a duration such as 20s or 1m30s")),
    **dict.fromkeys((CRASH_EXIT_CODE, CRASH_TIMES), (_is_whole, "a whole number")),
    **dict.fromkeys((NEVER_READY, IGNORE_STOP), (_is_switch, "true or false")),
}


@dataclass(frozen=True, slots=True)
class KubeletStages:
    """The delays of all stages."""

    pull: ContainerStage = PULL
    init: ContainerStage = INIT
    start: ContainerStage = START
    load: ContainerStage = LOAD
    ready: ContainerStage = READY
    run: ContainerStage = RUN
    stop: ContainerStage = STOP

    def without_jitter(self) -> "KubeletStages":
        """The same table without random variation."""
        return KubeletStages(*(replace(getattr(self, f.name), jitter=0.0) for f in fields(self)))

    def with_seconds(self, **seconds: float) -> "KubeletStages":
        """The same table with other delays and no jitter for some stages."""
        changed = {
            name: replace(getattr(self, name), seconds=value, jitter=0.0)
            for name, value in seconds.items()
        }
        return replace(self, **changed)


@dataclass(frozen=True, slots=True)
class Manner:
    """The behaviour of one pod: the table of stages, its annotations and its resources."""

    stages: KubeletStages
    uid: str
    annotations: Mapping[str, str]
    has_accelerator: bool
    ends: bool = False  # its containers run to an end, unless annotations say otherwise

    def seconds(self, stage: ContainerStage) -> float:
        """How long a stage takes for this pod."""
        own = self.find_duration(stage.annotation)
        if own is not None:
            return own
        if stage.is_for_accelerators and not self.has_accelerator:
            return 0.0
        share = crc32(f"{self.uid}/{stage.name}".encode()) / 0xFFFFFFFF
        return round(stage.seconds * (1 + stage.jitter * (2 * share - 1)), 3)

    @property
    def starting(self) -> float:
        """The seconds from a container's start until it is ready."""
        if self.find_duration(self.stages.ready.annotation) is not None:
            return self.seconds(self.stages.ready)
        return self.seconds(self.stages.load) + self.seconds(self.stages.ready)

    @property
    def exit_code(self) -> int:
        """The exit code of a crash."""
        text = self.annotations.get(CRASH_EXIT_CODE, "1")
        code = find_whole(text)
        return 1 if code is None else min(code, _EXIT_CODE_MAX)

    @property
    def is_never_ready(self) -> bool:
        """Whether an annotation keeps the pod unready."""
        return self.annotations.get(NEVER_READY) == "true"

    @property
    def pull_error(self) -> str:
        """Why the image cannot be pulled, if so."""
        return self.annotations.get(PULL_ERROR, "")

    def find_duration(self, annotation: str) -> float | None:
        """The duration in an annotation; None if it is missing or invalid."""
        text = self.annotations.get(annotation)
        return None if text is None else find_seconds(text.strip())

    def find_mistakes(self) -> list[str]:
        """Invalid annotations, which are ignored, each with what to write instead."""
        return [
            f'the annotation {name} is ignored: "{text}" is not {_RULES[name][1]}'
            for name, text in self.annotations.items()
            if name in _RULES and not _RULES[name][0](text)
        ]

    def find_end(
        self, container: str, *, is_first: bool, restarts: int
    ) -> tuple[float, int] | None:
        """After how long a container ends by itself, and with what exit code."""
        crash = self.find_duration(CRASH_AFTER)
        named = self.annotations.get(CRASH_CONTAINER)
        is_meant = container == named if named else is_first
        times = self.annotations.get(CRASH_TIMES, "")
        limit = find_whole(times)
        if crash is not None and is_meant and (limit is None or restarts < limit):
            return crash, self.exit_code
        run = self.seconds(self.stages.run) if self.ends else self.find_duration(RUN_FOR)
        return None if run is None else (run, 0)


def asks_for_accelerator(resources: Iterable[str]) -> bool:
    """Whether one of the resources is a GPU or TPU."""
    return any(name.endswith(ACCELERATORS) for name in resources)


def backoff_seconds(restarts: int) -> float:
    """The backoff of a container that ended; the first restart is at once."""
    if restarts == 0:
        return 0.0
    return min(BACKOFF_SECONDS * 2.0 ** min(restarts - 1, 10), BACKOFF_SECONDS_MAX)
