"""
The kubelet as a component: it decides when a pod is due, and writes the pod's status.

Most changes of a pod are the kubelet's own writes coming back. Facts that need no decoding
distinguish them from changes that matter (a spec, a deletion, an annotation for the
simulation, a readiness gate, a Ready condition of another writer), so a running pod costs
nothing. On a node that failed, or does not exist, the kubelet does nothing at all; when the
node is back, it reconciles every pod there.

It reconciles a pod that lacks a ConfigMap or Secret when that object is created or changes.

IP addresses are unique among running pods, and not reused at once: the next free address after
the last one given is taken, so that a client which still remembers a pod that went does not meet
its successor under the same one.
"""

from collections.abc import Iterable

import msgspec

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.durations import find_seconds
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import CONFIG_MAP, NODE, POD, SECRET
from kohort.cluster.objects import Kind, Object
from kohort.simulator.component import (
    ComponentAction,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    Step,
    View,
)
from kohort.simulator.kubelet.conditions import OWN_TYPES, find_phase, make_conditions
from kohort.simulator.kubelet.logs import make_manner
from kohort.simulator.kubelet.references import ReferenceReader, Waits
from kohort.simulator.kubelet.runs import SLACK, Plan, PodRun
from kohort.simulator.stages import (
    FAILED,
    IGNORE_STOP,
    NOT_READY,
    PREFIX,
    STOP,
    KubeletStages,
    Manner,
)

NETWORK = 10 << 24 | 244 << 16  # 10.244.0.0, and on to 10.255.255.255
SIZE = 12 << 16


class AddressBook:
    """The addresses in use."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self._last = 0

    def take(self, uid: str) -> str:
        """An address for a pod."""
        for _ in range(SIZE):
            self._last = (self._last + 1) % SIZE
            address = _text(NETWORK + self._last)
            if self._last & 0xFF not in (0, 255) and address not in self._owners:
                self._owners[address] = uid
                return address
        raise AssertionError("more pods than addresses")

    def adopt(self, address: str, uid: str) -> None:
        """Note that a pod has an address already."""
        self._owners.setdefault(address, uid)

    def release(self, address: str, uid: str) -> None:
        """Free the address of a deleted pod."""
        if self._owners.get(address) == uid:
            del self._owners[address]


def _text(number: int) -> str:
    return ".".join(str(number >> shift & 0xFF) for shift in (24, 16, 8, 0))


TERMINAL = ("Succeeded", "Failed")
_KILLED, _TERMINATED = 137, 143  # exit codes of processes that a signal ended
_MARK = PREFIX.encode()


class _Meta(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Address(msgspec.Struct):
    type: str
    address: str


class _NodeStatus(msgspec.Struct):
    addresses: list[_Address] | None = None


class _Annotated(msgspec.Struct):
    metadata: _Meta
    status: _NodeStatus | None = None


_decoder = msgspec.json.Decoder(_Annotated)


class Kubelet:
    """The kubelets of all nodes."""

    name = "kubelet"
    manager = "kubelet"
    kinds: tuple[Kind, ...] = (NODE, POD, CONFIG_MAP, SECRET)

    def __init__(self, stages: KubeletStages | None = None, *, emits: bool = True) -> None:
        self.stages = stages or KubeletStages()
        self._emits = emits
        self._stops: dict[str, float] = {}  # by node: how long its pods take to end
        self._plans: dict[str, Plan] = {}
        self._addresses = AddressBook()
        self._hosts: dict[str, str] = {}  # addresses of the nodes that work
        self._unready: set[str] = set()  # nodes whose pods the node controller keeps unready
        self._on_node: dict[str, set[str]] = {}
        self._waits = Waits()

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of pods that a change concerns."""
        if kind == NODE:
            return self._observe_node(old, new)
        if kind in (CONFIG_MAP, SECRET):
            return self._waits.pods_for(new, kind) if new is not None else ()
        if old is not None and (new is None or new.uid != old.uid):
            self._forget(old)
        if new is None:
            return ()
        facts = new.facts
        node = facts.spec.node_name if facts.spec else ""
        if not node:
            return ()
        plan = self._plans.get(new.uid)
        if plan is None:
            self._adopt(new, node)
        elif old is not None and not self._matters(old, new, plan):
            return ()
        return (_key(new),)

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Advance one pod, and write its status."""
        namespace, _, name = key.partition("/")
        entry = view.find(POD, namespace, name)
        if entry is None:
            return Step()
        plan = self._plans.get(entry.uid)
        if plan is None or plan.node not in self._hosts:
            return Step()
        if entry.facts.is_leaving:
            return self._leave(entry, plan, view, moment)
        if entry.facts.phase in TERMINAL:
            return Step()
        return self._live(entry, plan, view, moment)

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""

    def _observe_node(self, old: StoredObject | None, new: StoredObject | None) -> Iterable[str]:
        if new is None:
            if old is not None:
                self._hosts.pop(old.name, None)
                self._stops.pop(old.name, None)
            return ()
        raw = _decoder.decode(new.raw)
        annotations = raw.metadata.annotations or {}
        if annotations.get(FAILED) == "true":
            self._hosts.pop(new.name, None)
            return ()
        was_unready = new.name in self._unready
        if annotations.get(NOT_READY) == "true":
            self._unready.add(new.name)
        else:
            self._unready.discard(new.name)
        stop, before = find_seconds(annotations.get(STOP.annotation, "")), self._stops.get(new.name)
        if stop is None:
            self._stops.pop(new.name, None)
        else:
            self._stops[new.name] = stop
        came_back = new.name not in self._hosts or was_unready != (new.name in self._unready)
        came_back = came_back or stop != before
        addresses = (raw.status.addresses if raw.status else None) or ()
        internal = (a.address for a in addresses if a.type == "InternalIP")
        self._hosts[new.name] = next(internal, "")
        return sorted(self._on_node.get(new.name, ())) if came_back else ()

    def _adopt(self, entry: StoredObject, node: str) -> None:
        facts = entry.facts
        plan = self._plans[entry.uid] = Plan(node, is_ready=facts.is_ready)
        if facts.status and facts.status.pod_ip:
            plan.ip = facts.status.pod_ip
            self._addresses.adopt(plan.ip, entry.uid)
        self._on_node.setdefault(node, set()).add(_key(entry))

    def _forget(self, entry: StoredObject) -> None:
        plan = self._plans.pop(entry.uid, None)
        if plan is not None:
            self._addresses.release(plan.ip, entry.uid)
            self._waits.note(_key(entry), set())
            pods = self._on_node[plan.node]
            pods.discard(_key(entry))
            if not pods:
                del self._on_node[plan.node]

    def _matters(self, old: StoredObject, new: StoredObject, plan: Plan) -> bool:
        before, after = old.facts, new.facts
        if before.is_leaving != after.is_leaving:
            return True
        if after.is_ready != plan.is_ready and plan.node not in self._unready:
            return True
        if before.metadata.generation != after.metadata.generation:
            return True
        if plan.has_gates and _gates(old) != _gates(new):
            return True
        if _MARK in new.raw or _MARK in old.raw:
            return _annotations(old) != _annotations(new)
        return False

    def _live(self, entry: StoredObject, plan: Plan, view: View, moment: Moment) -> Step:
        pod = entry.decode()
        plan.has_gates = bool(pod["spec"].get("readinessGates"))
        reader = ReferenceReader(view, entry.namespace)
        manner = make_manner(pod, self.stages)
        run = PodRun(pod, plan, manner, moment, reader)
        mistakes = manner.find_mistakes()
        run.events += [
            ("Warning", "InvalidAnnotation", m) for m in mistakes if m not in plan.mistakes
        ]
        plan.mistakes = mistakes
        emitted = self._waits.emitted(_key(entry))
        run.is_new |= bool(emitted)
        after = run.advance()
        run.events += [("Warning", "FailedMount", m) for m in run.unmounted if m not in emitted]
        if not plan.ip and (run.has_sandbox or (emitted and not run.unmounted)):
            plan.ip = self._find_address(run, plan)
        self._waits.note(_key(entry), reader.lacking, run.unmounted)
        status = self._status(run, plan, entry, moment)
        plan.is_ready = any(
            c["type"] == "Ready" and c["status"] == "True" for c in status["conditions"]
        )
        actions = [*self._write(entry, pod, status), *self._announce(pod, run)]
        return Step(tuple(actions), after)

    def _leave(self, entry: StoredObject, plan: Plan, view: View, moment: Moment) -> Step:
        """Stop the containers of a terminating pod, then delete it."""
        pod = entry.decode()
        manner = make_manner(pod, self.stages)
        run = PodRun(pod, plan, manner, moment, ReferenceReader(view, entry.namespace))
        grace = float(pod["metadata"].get("deletionGracePeriodSeconds") or 0)
        is_stubborn = manner.annotations.get(IGNORE_STOP) == "true"
        wait = grace if is_stubborn else min(self._find_stop(manner, plan), grace)
        running = [s["name"] for s in (*run.inits, *run.mains) if "running" in s["state"]]
        if not running:
            wait = 0.0
        is_first_look = "/leaving" not in plan.clocks
        due = run.elapsed_since("/leaving", "") + wait
        if is_first_look:
            run.events = [("Normal", "Killing", f"Stopping container {n}") for n in running]
        actions: list[ComponentAction] = list(self._announce(pod, run)) if is_first_look else []
        if due > moment.elapsed + SLACK:
            return Step(tuple(actions), due - moment.elapsed)
        if running:
            # A server exits with 0 on a stop signal; a container that should run to its end is
            # killed.
            is_work = run.spec.get("restartPolicy", "Always") != "Always"
            run.stop(_KILLED if is_stubborn else _TERMINATED if is_work else 0)
            actions += self._write(entry, pod, self._status(run, plan, entry, moment))
        actions.append(DeleteRequest(POD, *entry.key, entry.uid, grace_seconds=0))
        return Step(tuple(actions))

    def _find_stop(self, manner: Manner, plan: Plan) -> float:
        """How long a pod takes to stop: its own annotation goes before its node's."""
        stage = manner.stages.stop
        if plan.node in self._stops and manner.find_duration(stage.annotation) is None:
            return self._stops[plan.node]
        return manner.seconds(stage)

    def _find_address(self, run: PodRun, plan: Plan) -> str:
        """The IP address of a pod, assigned with its sandbox."""
        host = self._hosts[plan.node]
        if run.spec.get("hostNetwork") and host:
            return host
        return self._addresses.take(run.pod["metadata"]["uid"])

    def _status(self, run: PodRun, plan: Plan, entry: StoredObject, moment: Moment) -> Object:
        """The complete status that a pod should have."""
        pod, host = run.pod, self._hosts[plan.node]
        before: Object = pod.get("status") or {}
        status: Object = {"startTime": before.get("startTime") or moment.stamp}
        if pod["metadata"].get("generation"):
            status["observedGeneration"] = pod["metadata"]["generation"]
        status["phase"] = self._phase(run, entry)
        if host:
            status["hostIP"], status["hostIPs"] = host, [{"ip": host}]
        if plan.ip:
            status["podIP"], status["podIPs"] = plan.ip, [{"ip": plan.ip}]
        if run.inits:
            status["initContainerStatuses"] = run.inits
        status["containerStatuses"] = run.mains
        status["conditions"] = make_conditions(pod, status, moment.stamp)
        if plan.node in self._unready:
            _keep_unready(status["conditions"], before)
        return status

    def _phase(self, run: PodRun, entry: StoredObject) -> str:
        if entry.facts.phase in TERMINAL:
            return entry.facts.phase
        if entry.facts.is_leaving:
            codes = [s["state"].get("terminated", {}).get("exitCode", 0) for s in run.mains]
            return "Failed" if any(codes) else "Succeeded"
        return find_phase(run.pod, run.mains, is_initialised=run.is_initialised)

    def _write(self, entry: StoredObject, pod: Object, status: Object) -> list[ComponentAction]:
        before: Object = pod.get("status") or {}
        changed = {key: value for key, value in status.items() if before.get(key) != value}
        if not changed:
            return []
        patch: Object = {"status": changed}
        if any(condition["type"] not in OWN_TYPES for condition in status["conditions"]):
            # The list is replaced as a whole, so conditions of other writers must not be lost.
            patch["metadata"] = {"resourceVersion": str(entry.rv)}
        return [MergeRequest(POD, *entry.key, patch, "status", entry.uid)]

    def _announce(self, pod: Object, run: PodRun) -> Iterable[EventRequest]:
        if not self._emits or not run.events:
            return ()
        meta = pod["metadata"]
        fields = ("name", "namespace", "uid", "resourceVersion")
        about = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {field: meta[field] for field in fields if field in meta},
        }
        return [EventRequest(about, *event) for event in run.events]


def _key(entry: StoredObject) -> str:
    return f"{entry.namespace}/{entry.name}"


def _keep_unready(conditions: list[Object], before: Object) -> None:
    """Keep Ready false where the node controller set it."""
    for old in before.get("conditions") or ():
        if old["type"] == "Ready" and old["status"] != "True":
            conditions[:] = [old if c["type"] == "Ready" else c for c in conditions]


def _gates(entry: StoredObject) -> list[tuple[str, str]]:
    status = entry.facts.status
    conditions = (status.conditions if status else None) or ()
    return [(c.type, c.status) for c in conditions if c.type not in OWN_TYPES]


def _annotations(entry: StoredObject) -> dict[str, str]:
    found = _decoder.decode(entry.raw).metadata.annotations or {}
    return {key: value for key, value in found.items() if key.startswith(PREFIX)}
