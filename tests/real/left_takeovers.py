"""
A takeover of what other controllers left, on a real control plane, with our operator in it.

The takeover installs our manifests. Nodes are fake, so a thread here does what a kubelet does with
our Deployment: a process of the operator runs, with the token of its account, while it has a pod.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from audit_log import AuditLog
from left_objects import Leftovers, Object, bring, define
from operator_processes import ACCOUNT, NAMESPACE, QUICK_LEASE, Controller, Service, eventually
from takeover_plane import TakeoverPlane

from control_plane import ControlPlane, real_plane
from kohort.apis.gangs.definitions import definitions_of
from upstream_controllers import OTHERS

PLANE = ("--nodes", "12", "--ready-ms", "200", "--gone-ms", "100")
# What docs/takeover.md says that a takeover changes of each controller's objects.
ACCEPTED: dict[str, tuple[str, ...]] = {
    "lws": (),
    "rbg": (),
    "ms": ("Pod:metadata", "ModelServing:status"),
    "isvc": (
        "Deployment:metadata.annotations[kohort.dev/rendered-from]",
        "LeaderWorkerSet:metadata.annotations[kohort.dev/rendered-from]",
        "Service",
        "InferenceService:status",
    ),
}
# The same as requests of our operator. It writes its leases and certificates in any case.
WRITTEN: dict[str, set[str]] = {
    "lws": set(),
    "rbg": set(),
    "ms": {"patch pods", "patch modelservings/status"},
    "isvc": {
        *("patch deployments", "patch leaderworkersets", "patch services"),
        "patch inferenceservices/status",
    },
}
OWN = {"leases", "secrets", "events", "mutatingwebhookconfigurations"} | {
    *("validatingwebhookconfigurations", "customresourcedefinitions", "selfsubjectaccessreviews"),
}


class LeftTakeover(TakeoverPlane):
    """A control plane with what other controllers left, their stand-ins, and a user."""

    def __init__(self, plane: ControlPlane, service: Service, names: Sequence[str]) -> None:
        super().__init__(plane, service.url, names)
        self.service = service
        self.names = names
        self.left: list[Leftovers] = []
        self._ended = threading.Event()
        self._operator: Controller | None = None

    def uids(self) -> dict[str, tuple[str, int]]:
        """The pods of all workloads: uid, and how often a container was restarted."""
        found = {}
        for left in self.left:
            for pod in left.list("pods"):
                told = (pod.get("status") or {}).get("containerStatuses") or ()
                name = f"{left.namespace}/{pod['metadata']['name']}"
                found[name] = (pod["metadata"]["uid"], sum(c["restartCount"] for c in told))
        return found

    def apply_words(self, **limits: str) -> list[str]:
        """The words of an apply that installs our operator."""
        accepted = [f"--accept={text}" for name in self.names for text in ACCEPTED[name]]
        given = {"silence": "3s", "timeout": "90s", **limits}
        flags = [f"--{name}={value}" for name, value in given.items()]
        start = ["--image", "kohort:1", "--webhook-url", self.url, "--yes"]
        return ["apply", "--apis", self.apis, *start, *accepted, *flags]

    def list_children(self) -> dict[str, str]:
        """The uids of objects of the workloads, but of pods."""
        kinds = "deployments,statefulsets,services,controllerrevisions,configmaps"
        found = {}
        for left in self.left:
            for obj in left.list(kinds):
                name = f"{left.namespace}/{obj['kind']}/{obj['metadata']['name']}"
                found[name] = obj["metadata"]["uid"]
        return found

    @contextmanager
    def kubelet(self) -> Iterator[None]:
        """Run the operator while its Deployment has a pod."""
        thread = threading.Thread(target=self._follow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def is_installed(self) -> bool:
        """Whether a pod of our Deployment exists."""
        chosen = "app.kubernetes.io/name=kohort"
        return bool(self.get("pods", "-n", NAMESPACE, "-l", chosen)["items"])

    def _follow(self) -> None:
        while not self._ended.wait(0.5):
            is_up = self.is_installed()
            if is_up and self._operator is None:
                self._operator = self._start()
            elif not is_up and self._operator is not None:
                self._stop()
        self._stop()

    def _start(self) -> Controller:
        words = ("create", "token", ACCOUNT, "-n", NAMESPACE, "--duration=24h")
        config = json.loads(self.plane.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": self.plane.kubectl(*words).strip()}
        path = self.plane.folder / "operator.kubeconfig"
        path.write_text(json.dumps(config))
        log = self.plane.folder / "log" / "controller"
        flags = ("--apis", self.apis, *QUICK_LEASE)
        started = Controller(path, self.service.url, log, *flags)
        self.service.backends = [started.port]
        return started

    def _stop(self) -> None:
        if self._operator is not None:
            self._operator.stop()
            self._operator = None


@contextmanager
def left_by(
    folder: Path, names: Sequence[str], workloads: Sequence[Sequence[Object]]
) -> Iterator[LeftTakeover]:
    """Workloads as other controllers left them, and these controllers, at rest."""
    service = Service()
    with real_plane(folder / "plane", *PLANE) as plane:
        user = LeftTakeover(plane, service, names)
        define(plane, "lws,ms,rbg,isvc")
        listed = {"apiVersion": "v1", "kind": "List", "items": list(definitions_of("volcano"))}
        plane.kubectl("create", "-f", "-", feed=json.dumps(listed))
        plane.kubectl("label", "nodes", "--all", "models.ome.io/clusterbasemodel.llama=Ready")
        for objects in workloads:
            left = bring(plane, objects)
            user.left.append(left)
        with user.others(), user.kubelet():
            wanted = {name: OTHERS[name].replicas for name in names}
            eventually("others run", lambda: count_available(user) == wanted)
            yield user
    service.close()


def count_available(user: LeftTakeover) -> Mapping[str, int]:
    """The available pods of each stand-in."""
    found = {}
    for name in user.names:
        other = OTHERS[name]
        live = user.get("deployment", other.deployment, "-n", other.namespace)
        found[name] = int((live.get("status") or {}).get("availableReplicas", 0))
    return found


def read_writes(user: LeftTakeover) -> Counter[str]:
    """What our operator wrote of workloads: verb and resource."""
    log = AuditLog(user.plane.audit)
    log.read()
    asked = (each for each in log.asked if each.resource.split("/")[0] not in OWN)
    return Counter(f"{each.verb} {each.resource}" for each in asked)


def take_over_and_undo(user: LeftTakeover) -> None:
    """The whole way; no pod is lost or restarted, and only what is documented is written."""
    pods, children = user.uids(), user.list_children()
    before = user.replicas(), user.services_of_hooks()
    _, out, _ = user.run("check", "-A", "--apis", user.apis, "-o", "json")
    assert not json.loads(out)["outdated"], out
    assert not any(write["pods"] for write in json.loads(out)["writes"]), out
    assert expect_done(user.run(*user.apply_words()), user)
    written = {name for api in user.names for name in WRITTEN[api]}
    assert {"patch pods", "patch deployments"} <= set(read_writes(user)) <= written
    assert set(count_available(user).values()) <= {0, 2}
    assert (user.uids(), user.list_children()) == (pods, children)
    assert expect_done(user.run("undo", "--yes", "--timeout", "60s"), user)
    assert (user.replicas(), user.services_of_hooks()) == before
    assert (user.uids(), user.list_children()) == (pods, children)


def expect_done(done: tuple[int, str, str], user: LeftTakeover) -> bool:
    """Whether a command ended well; if not, all that it and the operator said."""
    code, out, err = done
    path = user.plane.folder / "log" / "controller"
    log = path.read_text()[-3000:] if path.exists() else ""
    assert code == 0, out + err + log
    return True
