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
from datetime import UTC, datetime
from pathlib import Path

from audit_log import AuditLog
from left_objects import Leftovers, Object, bring_all, define
from operator_processes import ACCOUNT, NAMESPACE, QUICK_LEASE, Controller, Service, eventually
from takeover_plane import TakeoverPlane

from control_plane import ControlPlane, real_plane
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.home import is_own_holder
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
# What is new to workloads that were never taken over: kinds in the check, and writes.
FOUND = {"ms": "Pod", "isvc": "Deployment"}
SEEN = {"ms": "patch pods", "isvc": "patch deployments"}
OWN = {"leases", "secrets", "events", "mutatingwebhookconfigurations"} | {
    *("validatingwebhookconfigurations", "customresourcedefinitions", "selfsubjectaccessreviews"),
}
# All that a controller may make for a workload, and the workloads.
CHILDREN = (
    *("deployments", "statefulsets", "replicasets", "services", "controllerrevisions"),
    *("configmaps", "persistentvolumeclaims", "horizontalpodautoscalers", "poddisruptionbudgets"),
    *("serviceaccounts", "roles", "rolebindings", "podgroups.scheduling.volcano.sh"),
    *("leaderworkersets", "modelservings", "rolebasedgroups", "inferenceservices"),
    *("roleinstancesets", "roleinstances", "rolebasedgroupscalingadapters"),
)
Others = tuple[dict[str, int], dict[str, str], dict[str, Object]]
OTHERS_SECONDS = 4  # after which a lease of a stand-in that has stopped is free


def is_held_by_us(spec: Object, now: datetime) -> bool:
    """Whether a lease is ours and has not expired; an operator that was killed releases none."""
    if not is_own_holder(spec.get("holderIdentity") or ""):
        return False
    age = (now - datetime.fromisoformat(spec["renewTime"])).total_seconds()
    return age <= spec["leaseDurationSeconds"]


class LeftTakeover(TakeoverPlane):
    """A control plane with what other controllers left, their stand-ins, and a user."""

    def __init__(self, plane: ControlPlane, service: Service, names: Sequence[str]) -> None:
        super().__init__(plane, service.url, names)
        self.service = service
        self.names = names
        self.left: list[Leftovers] = []
        self.overlaps: list[str] = []  # APIs for which two controllers were at work
        self._ended = threading.Event()
        self._operator: Controller | None = None

    def uids(self) -> dict[str, tuple[str, int]]:
        """The pods of all workloads: uid, and how often a container was restarted."""
        found = {}
        for pod in self._list_own("pods"):
            told = (pod.get("status") or {}).get("containerStatuses") or ()
            name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            found[name] = (pod["metadata"]["uid"], sum(c["restartCount"] for c in told))
        return found

    def _list_own(self, kinds: str) -> list[Object]:
        """Objects in the namespaces of the workloads."""
        spaces = {left.namespace for left in self.left}
        items = self.get(kinds, "-A")["items"]
        return [obj for obj in items if obj["metadata"]["namespace"] in spaces]

    def look_at_others(self) -> Others:
        """The replicas of the other controllers, where their webhooks lead, and conversions."""
        return self.replicas(), self.services_of_hooks(), self.conversions()

    def conversions(self) -> dict[str, Object]:
        """How the versions of each definition with several are converted."""
        found = {each["metadata"]["name"]: each["spec"] for each in self.get("crds")["items"]}
        return {name: s["conversion"] for name, s in found.items() if len(s["versions"]) > 1}

    def convert_by_others(self) -> None:
        """Let the other controllers' webhooks convert, as their installs do."""
        for other in self._others:
            body = json.dumps({"spec": {"conversion": other.write_conversion()}})
            for name in other.converts:
                removed = '[{"op": "remove", "path": "/spec/conversion"}]'
                self.plane.kubectl("patch", "crd", name, "--type=json", "-p", removed)
                self.plane.kubectl("patch", "crd", name, "--type=merge", "-p", body)

    def apply_words(self, **limits: str) -> list[str]:
        """The words of an apply that installs our operator."""
        accepted = [f"--accept={text}" for name in self.names for text in ACCEPTED[name]]
        given = {"silence": "3s", "timeout": "180s", **limits}
        flags = [f"--{name}={value}" for name, value in given.items()]
        start = ["--image", "kohort:1", "--webhook-url", self.url, "--yes"]
        return ["apply", "--apis", self.apis, *start, *accepted, *flags]

    def list_children(self) -> dict[str, str]:
        """The uids of the workloads and of all that belongs to them, but of pods."""
        return {
            f"{obj['metadata']['namespace']}/{obj['kind']}/{obj['metadata']['name']}": obj[
                "metadata"
            ]["uid"]
            for obj in self._list_own(",".join(CHILDREN))
        }

    def _renew(self) -> None:
        """The other controllers' work: each renews its lease while it has pods."""
        while not self._over.wait(1.0):
            up = self._list_others_pods()
            stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            at_work = [o for o in self._others if up[o.api]]
            leases = [other.write_lease(f"{other.deployment}-0", stamp) for other in at_work]
            for lease in leases:
                lease["spec"]["leaseDurationSeconds"] = OTHERS_SECONDS
            if leases:
                self._note_overlap(up)
                listed = {"apiVersion": "v1", "kind": "List", "items": leases}
                self.plane.kubectl("apply", "-f", "-", feed=json.dumps(listed))

    def _list_others_pods(self) -> dict[str, set[str]]:
        """The uids of pods of each other controller."""
        pods = self.get("pods", "-A")["items"]
        return {
            o.api: {
                pod["metadata"]["uid"]
                for pod in pods
                if pod["metadata"]["namespace"] == o.namespace
                and set(o.labels) <= (pod["metadata"].get("labels") or {}).items()
            }
            for o in self._others
        }

    def _note_overlap(self, before: Mapping[str, set[str]]) -> None:
        """Note whether ours holds a lease between two looks at pods that were there in both."""
        leases = self.get("leases", "-A")["items"]
        if not any(is_held_by_us(lease["spec"], datetime.now(UTC)) for lease in leases):
            return
        after = self._list_others_pods()
        self.overlaps += [name for name in self.names if before[name] & after[name]]

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
    folder: Path,
    names: Sequence[str],
    workloads: Sequence[Sequence[Object]],
) -> Iterator[LeftTakeover]:
    """Workloads as other controllers left them, and these controllers, at rest."""
    service = Service()
    with real_plane(folder / "plane", *PLANE) as plane:
        user = LeftTakeover(plane, service, names)
        define(plane, "lws,ms,rbg,isvc")
        listed = {"apiVersion": "v1", "kind": "List", "items": list(definitions_of("volcano"))}
        plane.kubectl("create", "-f", "-", feed=json.dumps(listed))
        plane.kubectl("label", "nodes", "--all", "models.ome.io/clusterbasemodel.llama=Ready")
        user.convert_by_others()
        user.left = bring_all(plane, workloads)
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
    start, before = (user.uids(), user.list_children()), user.look_at_others()
    counts = read_writes(user)
    _, out, _ = user.run("check", "-A", "--apis", user.apis, "-o", "json")
    report = json.loads(out)
    assert not report["outdated"] and not any(write["pods"] for write in report["writes"]), out
    found = {write["kind"] for write in report["writes"]}
    assert {kind for api, kind in FOUND.items() if api in user.names} <= found, out
    assert expect_done(user.run(*user.apply_words()), user)
    expect_taken(user)
    written = set(read_writes(user) - counts)
    assert {name for api, name in SEEN.items() if api in user.names} <= written
    assert (user.uids(), user.list_children()) == start
    assert expect_done(user.run("undo", "--yes", "--timeout", "180s"), user)
    expect_given_back(user, before)
    assert (user.uids(), user.list_children()) == start


def expect_taken(user: LeftTakeover) -> None:
    """
    All are taken over.

    The others are stopped, their webhooks lead to us or are gone, ours converts, and has written
    only what is documented.
    """
    counts = count_available(user)
    assert set(counts.values()) <= {0, 2}, counts  # ours has the name of LeaderWorkerSet's
    assert user.is_installed()
    led = {name: text.split(",") for name, text in user.services_of_hooks().items() if text}
    astray = {n: texts for n, texts in led.items() if not all(user.url in t for t in texts)}
    assert not astray, astray
    expect_converted(user)
    written = {name for api in user.names for name in WRITTEN[api]}
    assert set(read_writes(user)) <= written
    assert user.overlaps == []


def expect_converted(user: LeftTakeover) -> None:
    """All conversions lead to us, and the API server reads older versions by them."""
    for name, conversion in user.conversions().items():
        place = (conversion.get("webhook") or {}).get("clientConfig") or {}
        assert place.get("url", "").startswith(user.url), (name, conversion)
        plural, _, group = name.partition(".")
        items = user.get(f"{plural}.v1alpha1.{group}", "-A")["items"]
        assert all(obj["apiVersion"] == f"{group}/v1alpha1" for obj in items)
        if plural == "rolebasedgroups":
            assert items, "no RoleBasedGroup was converted"


def expect_given_back(user: LeftTakeover, before: Others) -> None:
    """The others are as before, and nothing that the takeover made is left but what is shared."""
    names = ("replicas", "webhooks", "conversions")
    for name, now, then in zip(names, user.look_at_others(), before, strict=True):
        assert now == then, f"{name} are {now}, and were {then}"
    kinds = "deployments,services,configmaps,clusterroles,clusterrolebindings,roles,rolebindings,"
    hooks = "mutatingwebhookconfigurations,validatingwebhookconfigurations"
    chosen = ("-l", "app.kubernetes.io/managed-by=kohort", "-n", NAMESPACE)
    made = user.get(kinds + hooks, *chosen)["items"]
    assert not made, [f"{obj['kind']}/{obj['metadata']['name']}" for obj in made]
    words = ("get", "configmap", "kohort-takeover", "-n", NAMESPACE, "--ignore-not-found")
    assert user.plane.kubectl(*words) == ""
    assert user.overlaps == []


def expect_done(done: tuple[int, str, str], user: LeftTakeover) -> bool:
    """Whether a command ended well; if not, all that it and the operator said."""
    code, out, err = done
    path = user.plane.folder / "log" / "controller"
    log = path.read_text()[-3000:] if path.exists() else ""
    assert code == 0, out + err + log
    return True
