"""
A control plane with stand-ins for other controllers, a takeover from them and the way back.

Stand-ins have upstream's Deployment, Service, lease and webhook configurations. The workload is at
rest when the takeover begins; its pods must be the same, by uid, at every end.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cluster_driver import make_lws
from operator_processes import (
    QUICK_LEASE,
    Controller,
    Service,
    eventually,
    free_port,
    install,
    read_holder,
)

from control_plane import ControlPlane, real_plane
from upstream_controllers import OTHERS

PLANE = ("--nodes", "4", "--ready-ms", "200", "--gone-ms", "100")


class TakeoverPlane:
    """A control plane with a workload and other controllers, and the commands of a user."""

    def __init__(self, plane: ControlPlane, url: str, names: Sequence[str]) -> None:
        self.plane, self.url = plane, url
        self.apis = ",".join(names)
        self._others = [OTHERS[name] for name in names]
        self._over = threading.Event()

    def kohort(self, *words: str, kubeconfig: Path | None = None) -> list[str]:
        where = ("--kubeconfig", str(kubeconfig or self.plane.kubeconfig))
        return [sys.executable, "-m", "kohort", "takeover", words[0], *where, *words[1:]]

    def run(self, *words: str, kubeconfig: Path | None = None) -> tuple[int, str, str]:
        command = self.kohort(*words, kubeconfig=kubeconfig)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def get(self, *words: str) -> dict:
        return json.loads(self.plane.kubectl("get", *words, "-o", "json"))

    def bring_up(self) -> None:
        """A workload of two groups with two members each, at rest."""
        lws = {**make_lws(groups=2, size=2), "metadata": {"name": "calm", "namespace": "default"}}
        self.plane.kubectl("apply", "-f", "-", feed=json.dumps(lws))
        self.plane.kubectl("wait", "lws/calm", "--for=condition=Available", "--timeout=120s")

    def pods(self) -> dict[str, str]:
        items = self.get("pods", "-n", "default")["items"]
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in items}

    def are_all_up(self) -> bool:
        """Whether all pods of the workload and of the other controllers are there."""
        wanted = 4 + sum(other.replicas for other in self._others)
        return len(self.get("pods", "-A")["items"]) >= wanted

    def replicas(self) -> dict[str, int]:
        return {
            o.api: self.get("deployment", o.deployment, "-n", o.namespace)["spec"]["replicas"]
            for o in self._others
        }

    def hooks(self) -> list[str]:
        """The webhook configurations of the others, as kubectl names them."""
        return sorted({f"{kind}/{name}" for o in self._others for kind, name, _ in o.hooks})

    def services_of_hooks(self) -> dict[str, str]:
        """Where each webhook configuration leads; empty where it is gone."""
        found = {}
        for name in self.hooks():
            text = self.plane.kubectl("get", name, "--ignore-not-found", "-o", "json")
            hooks = json.loads(text)["webhooks"] if text.strip() else []
            places = [hook["clientConfig"] for hook in hooks]
            found[name] = ",".join(p.get("url", p.get("service", {}).get("name")) for p in places)
        return found

    @contextmanager
    def others(self) -> Iterator[None]:
        """The other controllers, each of which renews its lease while it has pods."""
        for other in self._others:
            for obj in other.list_objects():
                self.plane.kubectl("apply", "-f", "-", feed=json.dumps(obj))
        thread = threading.Thread(target=self._renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _renew(self) -> None:
        while not self._over.wait(1.0):
            for other in self._others:
                chosen = ",".join(f"{key}={value}" for key, value in other.labels)
                if not self.get("pods", "-n", other.namespace, "-l", chosen)["items"]:
                    continue
                stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
                lease = other.write_lease(f"{other.deployment}-0", stamp)
                self.plane.kubectl("apply", "-f", "-", feed=json.dumps(lease))


@contextmanager
def running(user: TakeoverPlane, service: Service) -> Iterator[Controller]:
    """Our operator, until the block ends."""
    plane = user.plane
    log = plane.folder / "log" / f"controller-{free_port()}"
    flags = ("--apis", user.apis, *QUICK_LEASE)
    controller = Controller(plane.kubeconfig, service.url, log, *flags)
    service.backends = [controller.port]
    try:
        yield controller
    finally:
        controller.stop()


@contextmanager
def prepared(folder: Path, names: Sequence[str]) -> Iterator[tuple[TakeoverPlane, Service]]:
    """A workload at rest, other controllers that run, and no operator of ours."""
    service = Service()
    with real_plane(folder / "plane", *PLANE) as plane:
        user = TakeoverPlane(plane, service.url, names)
        install(plane, service.url, "--apis", user.apis)
        with running(user, service) as ours:
            eventually("it leads", lambda: read_holder(plane), ours.log.read_text)
            ours.wait_until_ready()
            user.bring_up()
        for name in user.hooks():
            plane.kubectl("delete", name, "--ignore-not-found")
        with user.others():
            eventually("pods of the others", user.are_all_up)
            yield user, service
    service.close()


def go_there_and_back(folder: Path, names: Sequence[str]) -> None:
    """Take over from these controllers and undo it; no pod of the workload is lost."""
    with prepared(folder, names) as (user, service):
        pods = user.pods()
        assert len(pods) == 4
        check_and_refuse(user, folder)
        before = user.replicas(), user.services_of_hooks()
        take_over(user, service)
        assert set(user.replicas().values()) == {0}
        assert user.pods() == pods
        code, out, err = user.run("undo", "--yes", "--timeout", "60s")
        assert code == 0, out + err
        assert (user.replicas(), user.services_of_hooks()) == before
        assert user.pods() == pods


def fail_at_each_step(folder: Path, names: Sequence[str]) -> None:
    """Kill both commands at each step that they tell of; each goes on, and no pod is lost."""
    with prepared(folder, names) as (user, service):
        pods, before = user.pods(), (user.replicas(), user.services_of_hooks())
        words = ("--apis", user.apis, "--operator-running", "--webhook-url", user.url)
        steps = kill_at_each_step(user, "apply", *words, "--yes")
        assert len(steps) > len(names), steps
        assert set(user.replicas().values()) == {0}
        take_over(user, service)
        assert user.pods() == pods
        assert len(kill_at_each_step(user, "undo", "--yes", "--timeout", "60s")) > len(names)
        assert user.run("undo", "--yes", "--timeout", "60s")[0] == 0
        assert (user.replicas(), user.services_of_hooks()) == before
        assert user.pods() == pods


def kill_at_each_step(user: TakeoverPlane, *words: str) -> list[str]:
    """Kill a command at the first step that it tells of and that is new; all of these."""
    steps: list[str] = []
    while True:
        work = subprocess.Popen(user.kohort(*words), stderr=subprocess.PIPE, text=True)
        assert work.stderr is not None
        told = (line for line in work.stderr if ": " in line and ": waits for " not in line)
        step = next((line for line in told if line not in steps), "")
        work.kill()
        work.wait()
        if not step or "wait for silence" in step:
            return steps
        steps.append(step)


def check_and_refuse(user: TakeoverPlane, folder: Path) -> None:
    """The check is empty; one without permission names the verb and the resource."""
    code, out, err = user.run("check", "-A", "--apis", user.apis)
    assert code == 0, out + err
    assert "1 LeaderWorkerSet   1 readable" in out
    token = user.plane.kubectl("create", "token", "default", "-n", "default").strip()
    config = json.loads(user.plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    path = folder / "nobody.kubeconfig"
    path.write_text(json.dumps(config))
    running = ("--operator-running", "--webhook-url", user.url)
    for words in (("check", "-A"), ("shadow", "-A", "--for", "1s"), ("apply", *running)):
        code, out, err = user.run(*words, kubeconfig=path)
        assert code == 1
        assert 'cannot list resource "leaderworkersets"' in err, err
    code, out, err = user.run("undo", kubeconfig=path)
    assert code == 1
    assert 'cannot get resource "configmaps"' in err, err


def take_over(user: TakeoverPlane, service: Service) -> None:
    """Run apply, and start our operator when it waits for it; stop it again at the end."""
    words = ("--apis", user.apis, "--operator-running", "--webhook-url", user.url)
    limits = ("--silence", "3s", "--timeout", "90s", "--yes")
    command = user.kohort("apply", *words, *limits)
    work = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert work.stderr is not None
    told = ""
    for line in work.stderr:
        told += line
        if "wait for silence" in line:
            break
    assert "wait for silence" in told, told
    with running(user, service) as ours:
        out, err = work.communicate(timeout=120)
        assert work.returncode == 0, told + out + err + ours.log.read_text()
    assert "taken over" in out
