"""
One step of one pod, which advances each container as far as time allows.

What a container does next follows from its state in the pod's status, and from
when it entered that state. Only the second is kept outside the status (``Plan``),
and only for delays: after a restart of the process the clock of the state starts
again, and nothing else is lost.

A container whose image has no name, or whose variables come from an object that is
missing, waits without a timer: the kubelet looks again when that object or the pod changes.
"""

import json
from dataclasses import dataclass, field
from hashlib import sha256

from kohort.cluster.objects import Object
from kohort.simulator.component import Moment
from kohort.simulator.kubelet.conditions import is_init_done
from kohort.simulator.kubelet.references import ReferenceReader, find_image_fault
from kohort.simulator.stages import (
    BACKOFF_FORGOTTEN_SECONDS,
    Manner,
    backoff_seconds,
)

NEVER_LOCATED = "The container could not be located when the pod was terminated"
# Sums of delays are compared with a clock, both in floating point.
SLACK = 1e-6
POD_CLOCK, START_CLOCK = "/created", "/initialised"
CONFIG_ERROR, INVALID_IMAGE = "CreateContainerConfigError", "InvalidImageName"
GRACE_SECONDS = 30
_CREATING = ("ContainerCreating", "PodInitializing")


@dataclass(slots=True)
class Plan:
    """The kubelet's memory of a pod between steps."""

    node: str
    ip: str = ""
    is_ready: bool = False
    has_gates: bool = False
    mistakes: list[str] = field(default_factory=list)  # in annotations, already reported
    clocks: dict[str, tuple[str, float]] = field(default_factory=dict)


class PodRun:
    """The containers of one pod, at one moment."""

    def __init__(
        self, pod: Object, plan: Plan, manner: Manner, moment: Moment, reader: ReferenceReader
    ) -> None:
        self.pod = pod
        self.spec: Object = pod["spec"]
        self.manner = manner
        self.events: list[tuple[str, str, str]] = []
        self.unmounted: tuple[str, ...] = ()  # messages about missing volumes
        self.reader = reader
        self._plan = plan
        self._moment = moment
        self._due: list[float] = []
        status: Object = pod.get("status") or {}
        waiting = "PodInitializing" if self.spec.get("initContainers") else "ContainerCreating"
        self.mains = self._statuses(status, "containerStatuses", "containers", waiting)
        self.inits = self._statuses(status, "initContainerStatuses", "initContainers", waiting)
        self.is_new = not status.get("startTime")

    @property
    def is_initialised(self) -> bool:
        """Whether all init containers are done."""
        specs = self.spec.get("initContainers") or ()
        return all(is_init_done(s, c) for s, c in zip(self.inits, specs, strict=True))

    @property
    def has_sandbox(self) -> bool:
        """Whether the pod's sandbox exists, so that containers can be created."""
        states = [status["state"] for status in (*self.inits, *self.mains)]
        return any(
            "running" in state or (state.get("waiting") or {}).get("reason", "") not in _CREATING
            for state in states
            if "terminated" not in state
        )

    def advance(self) -> float | None:
        """Do everything that is due; returns the seconds until the next change."""
        self.unmounted = self._find_unmounted()
        if self.unmounted:
            return None
        if self.is_new:
            first = (self.spec.get("initContainers") or self.spec["containers"])[0]
            if not find_image_fault(first["image"]):
                self._emit("Pulling", f'Pulling image "{first["image"]}"')
        self._advance_inits()
        if self.is_initialised:
            for number, status in enumerate(self.mains):
                self._advance_main(status, self.spec["containers"][number], number == 0)
        if not self._due:
            return None
        return max(min(self._due) - self._moment.elapsed, 0.0)

    def stop(self, exit_code: int) -> None:
        """Stop all running containers, and never start the waiting ones."""
        for status in (*self.mains, *self.inits):
            if "running" in status["state"]:
                self._end(status, exit_code)
            elif "waiting" in status["state"]:
                unknown = {"exitCode": 137, "reason": "ContainerStatusUnknown"}
                status["state"] = {"terminated": {**unknown, "message": NEVER_LOCATED}}
            status["ready"] = status["started"] = False

    def elapsed_since(self, name: str, tag: str) -> float:
        """The simulated time at which a state was first seen."""
        known = self._plan.clocks.get(name)
        if known is None or known[0] != tag:
            known = self._plan.clocks[name] = (tag, self._moment.elapsed)
        return known[1]

    def _find_unmounted(self) -> tuple[str, ...]:
        """The messages about volumes that cannot be mounted; not checked again once mounted."""
        if self._plan.ip or POD_CLOCK in self._plan.clocks or not self.spec.get("volumes"):
            return ()
        faults = self.reader.find_volume_faults(self.spec)
        return tuple(f'MountVolume.SetUp failed for volume "{v}" : {why}' for v, why in faults)

    def _advance_inits(self) -> None:
        """Start init containers one after the other; sidecars stay, the others end."""
        specs = self.spec.get("initContainers") or ()
        begun = self.elapsed_since(POD_CLOCK, "")
        for number, (status, spec) in enumerate(zip(self.inits, specs, strict=True)):
            if is_init_done(status, spec):
                continue
            if "waiting" in status["state"]:
                wait = self.manner.seconds(self.manner.stages.pull) if number == 0 else 0.0
                if not self._is_due(begun + wait):
                    return
                if not self._try_start(status, spec):
                    return
                if spec.get("restartPolicy") == "Always":
                    status["ready"] = True
                    continue
            since = self.elapsed_since(status["name"], _tag(status))
            if not self._is_due(since + self.manner.seconds(self.manner.stages.init)):
                return
            self._end(status, 0)
            status["ready"], status["started"] = True, False

    def _advance_main(self, status: Object, spec: Object, is_first: bool) -> None:
        if "waiting" in status["state"]:
            self._advance_waiting(status, spec)
        elif "terminated" in status["state"]:
            self._advance_ended(status, spec)
        if "running" in status["state"]:
            self._advance_running(status, spec, is_first)

    def _advance_waiting(self, status: Object, spec: Object) -> None:
        reason = status["state"]["waiting"].get("reason")
        stages = self.manner.stages
        if reason == "CrashLoopBackOff" and status["image"] != spec["image"]:
            # A new image has not failed yet.
            self._await_image(status, spec)
            reason = status["state"]["waiting"]["reason"]
        if reason == "CrashLoopBackOff":
            since = self.elapsed_since(status["name"], _tag(status))
            if self._is_due(since + backoff_seconds(status["restartCount"])):
                self._try_start(status, spec)
            return
        wait = self.manner.seconds(stages.start)
        clock, tag = START_CLOCK, ""
        if status["lastState"] and reason in _CREATING:
            clock, tag = status["name"], _tag(status)
            wait += self.manner.seconds(stages.pull)
        elif not self.spec.get("initContainers"):
            clock, wait = POD_CLOCK, wait + self.manner.seconds(stages.pull)
        if not self._is_due(self.elapsed_since(clock, tag) + wait):
            return
        if self.manner.pull_error:
            self._fail_pull(status, spec)
        else:
            self._try_start(status, spec)

    def _advance_running(self, status: Object, spec: Object, is_first: bool) -> None:
        since = self.elapsed_since(status["name"], _tag(status))
        if status["image"] != spec["image"]:
            self._replace(status, spec)
            return
        end = self.manner.find_end(spec["name"], is_first=is_first, restarts=status["restartCount"])
        if end is not None and self._is_due(since + end[0]):
            self._end(status, end[1])
            self._advance_ended(status, spec)
        elif self.manner.is_never_ready:
            status["ready"] = False
        elif not status["ready"]:
            status["ready"] = self._is_due(since + self.manner.starting)

    def _replace(self, status: Object, spec: Object) -> None:
        """Stop a container whose image changed, whatever its restart policy; then pull."""
        clock, image = f"{status['name']}/image", spec["image"]
        if self._plan.clocks.get(clock, ("", 0.0))[0] != image:
            name = spec["name"]
            self._emit("Killing", f"Container {name} definition changed, will be restarted")
        grace = float(self.spec.get("terminationGracePeriodSeconds", GRACE_SECONDS))
        wait = min(self.manner.seconds(self.manner.stages.stop), grace)
        if self._is_due(self.elapsed_since(clock, image) + wait):
            self._end(status, 0)
            status["lastState"] = status["state"]
            self._await_image(status, spec)
            self._advance_waiting(status, spec)

    def _await_image(self, status: Object, spec: Object) -> None:
        status["state"] = {"waiting": {"reason": _CREATING[0]}}
        if not find_image_fault(spec["image"]):
            self._emit("Pulling", f'Pulling image "{spec["image"]}"')

    def _advance_ended(self, status: Object, spec: Object) -> None:
        ended = status["state"]["terminated"]
        policy = self.spec.get("restartPolicy", "Always")
        if policy == "Never" or (policy == "OnFailure" and ended["exitCode"] == 0):
            return
        changed = status["image"] != spec["image"]
        restarts = status["restartCount"]
        ran = self._plan.clocks.get(f"{status['name']}/ran", ("", 0.0))[1]
        if restarts and not changed and ran < BACKOFF_FORGOTTEN_SECONDS:
            self._back_off(status, spec, backoff_seconds(restarts))
            return
        since = self.elapsed_since(status["name"], _tag(status))
        if self._is_due(since + self.manner.seconds(self.manner.stages.start)):
            self._try_start(status, spec)

    def _back_off(self, status: Object, spec: Object, seconds: float) -> None:
        where = f"{self.pod['metadata']['name']}_{self.pod['metadata']['namespace']}"
        pod = f"{where}({self.pod['metadata']['uid']})"
        status["lastState"] = status["state"]
        wait = f"{int(seconds)}s" if seconds < 60 else f"{int(seconds // 60)}m{int(seconds % 60)}s"
        message = f"back-off {wait} restarting failed container={spec['name']} pod={pod}"
        status["state"] = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        self._emit(
            "BackOff",
            f"Back-off restarting failed container {spec['name']} in pod {pod}",
            "Warning",
        )
        self._is_due(self.elapsed_since(status["name"], _tag(status)) + seconds)

    def _fail_pull(self, status: Object, spec: Object) -> None:
        """Report a pull error once, then ImagePullBackOff: a waiting pod writes nothing more."""
        if status["state"]["waiting"].get("reason") == "ImagePullBackOff":
            return
        image = spec["image"]
        problem = f'Failed to pull image "{image}": {self.manner.pull_error}'
        self._emit("Failed", problem, "Warning")
        self._emit("Failed", "Error: ErrImagePull", "Warning")
        self._emit("BackOff", f'Back-off pulling image "{image}"')
        self._emit("Failed", "Error: ImagePullBackOff", "Warning")
        message = f'Back-off pulling image "{image}": ErrImagePull: {self.manner.pull_error}'
        status["state"] = {"waiting": {"reason": "ImagePullBackOff", "message": message}}

    def _try_start(self, status: Object, spec: Object) -> bool:
        """Start a container, or report what it lacks."""
        image = spec["image"]
        if fault := find_image_fault(image):
            quoted = json.dumps(image, ensure_ascii=False)
            message = f"Failed to apply default image tag {quoted}: "
            message += f"couldn't parse image name {quoted}: {fault}"
            return self._refuse(status, spec, INVALID_IMAGE, message)
        if fault := self.reader.find_environment_fault(spec):
            return self._refuse(status, spec, CONFIG_ERROR, fault)
        if "terminated" in status["state"]:
            status["lastState"] = status["state"]
        if status["lastState"]:
            status["restartCount"] += 1
        self._start(status, spec)
        return True

    def _refuse(self, status: Object, spec: Object, reason: str, message: str) -> bool:
        """Report once why a container cannot be created: a waiting pod writes nothing more."""
        waiting = {"reason": reason, "message": message}
        if status["state"].get("waiting") == waiting:
            return False
        if "terminated" in status["state"]:
            status["lastState"] = status["state"]
        if reason == CONFIG_ERROR:
            self._emit_pulled(status, spec)
            self._emit("Failed", f"Error: {message}", "Warning")
        else:
            self._emit("InspectFailed", message, "Warning")
            self._emit("Failed", f"Error: {reason}", "Warning")
        status["state"] = {"waiting": waiting}
        return False

    def _emit_pulled(self, status: Object, spec: Object) -> None:
        image, pull = spec["image"], self.manner.seconds(self.manner.stages.pull)
        was_refused = (status["state"].get("waiting") or {}).get("reason") == CONFIG_ERROR
        has_another = bool(status["imageID"]) and status["image"] != image
        if (status["lastState"] or was_refused) and not has_another:
            self._emit("Pulled", f'Container image "{image}" already present on machine')
            return
        size = 50_000_000 + int(sha256(image.encode()).hexdigest()[:7], 16)
        self._emit(
            "Pulled",
            f'Successfully pulled image "{image}" in {pull:g}s '
            f"({pull:g}s including waiting). Image size: {size} bytes.",
        )

    def _start(self, status: Object, spec: Object) -> None:
        identity = f"{self.manner.uid}/{spec['name']}/{status['restartCount']}"
        digest = sha256(spec["image"].encode()).hexdigest()
        self._emit_pulled(status, spec)
        self._emit("Created", "Container created")
        self._emit("Started", "Container started")
        status["image"] = spec["image"]
        is_exact = "@" in spec["image"]
        status["imageID"] = spec["image"] if is_exact else f"{spec['image']}@sha256:{digest}"
        status["containerID"] = f"containerd://{sha256(identity.encode()).hexdigest()}"
        status["state"] = {"running": {"startedAt": self._moment.stamp}}
        status["ready"], status["started"] = False, True
        self.elapsed_since(status["name"], _tag(status))

    def _end(self, status: Object, exit_code: int) -> None:
        since = self.elapsed_since(status["name"], _tag(status))
        self._plan.clocks[f"{status['name']}/ran"] = ("", self._moment.elapsed - since)
        status["state"] = {
            "terminated": {
                "exitCode": exit_code,
                "reason": "Completed" if exit_code == 0 else "Error",
                "startedAt": status["state"]["running"].get("startedAt"),
                "finishedAt": self._moment.stamp,
                "containerID": status.get("containerID", ""),
            }
        }
        status["ready"] = status["started"] = False

    def _is_due(self, at: float) -> bool:
        if at <= self._moment.elapsed + SLACK:
            return True
        self._due.append(at)
        return False

    def _emit(self, reason: str, message: str, kind: str = "Normal") -> None:
        self.events.append((kind, reason, message))

    def _statuses(self, status: Object, field_name: str, specs: str, waiting: str) -> list[Object]:
        known = {item["name"]: item for item in status.get(field_name) or ()}
        return [
            _copy(known[spec["name"]]) if spec["name"] in known else _fresh(spec, waiting)
            for spec in self.spec.get(specs) or ()
        ]


def _copy(status: Object) -> Object:
    return {"started": False, "lastState": {}, **status}


def _fresh(spec: Object, waiting: str) -> Object:
    return {
        "name": spec["name"],
        "image": spec["image"],
        "imageID": "",
        "ready": False,
        "started": False,
        "restartCount": 0,
        "state": {"waiting": {"reason": waiting}},
        "lastState": {},
    }


def _tag(status: Object) -> str:
    kind, state = next(iter(status["state"].items()))
    return f"{kind}/{state.get('reason', '')}/{status['restartCount']}"
