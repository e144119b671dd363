"""Script (b): a user who runs LWS learns that a move is safe, moves, and moves back."""

import json
import socket
from pathlib import Path

import pytest
from terminal import OpenWindow, Terminal, compare

from upstream_controllers import OTHERS

pytestmark = pytest.mark.slow
LWS = OTHERS["lws"]
WORKLOAD = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: NAME, namespace: NAMESPACE}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    restartPolicy: POLICY
    workerTemplate:
      spec:
        containers: [{name: engine, image: "sglang:0.5.3"}]
"""
PLACES = {"llama": "team-a", "qwen": "team-b"}
# The operator takes ports that are free on this machine.
OURS = "kohort controller --webhook-port $HOOKS --webhook-url https://127.0.0.1:$HOOKS"
OURS = f"{OURS} --metrics-bind-address 0 --health-probe-bind-address 0"
HOOKS = " ".join(f"{kind.lower()}/{name}" for kind, name, _ in LWS.hooks)
UIDS = "kubectl get pods -A -l leaderworkerset.sigs.k8s.io/name -o jsonpath='{..metadata.uid}'"
GONE = "kubectl wait --for=delete pod -n lws-system -l control-plane --timeout=5m"
RELEASE = """kubectl patch lease b8b2488c.x-k8s.io -n lws-system --type=merge \\
-p '{"spec": {"holderIdentity": ""}}'"""
# A busy machine answers a write late, and the command looks, and may send it again.
WAITS = ": waits for |, again$"
CLOCK = "--clock 2026-01-01T09:00:00Z --port 0"


def write_files(folder: Path) -> None:
    for name, namespace in PLACES.items():
        policy = "RecreateGroupOnPodRestart" if name == "llama" else "Default"
        text = WORKLOAD.replace("NAMESPACE", namespace).replace("NAME", name)
        (folder / f"{name}.yaml").write_text(text.replace("POLICY", policy))
    lease = LWS.write_lease("lws-0", "2026-01-01T09:00:00.000000Z")
    lease["spec"]["leaseDurationSeconds"] = 3600
    objects = [*LWS.list_objects()[1:], lease]  # the namespace is there
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    (folder / "lws.yaml").write_text(json.dumps(listed))


def bring_up(before: Terminal, operator: Terminal) -> None:
    """Workloads at rest, a stand-in for LWS's controller, and no operator of ours."""
    before.type("kohort sim clock resume")
    for name in ("lws-system", *PLACES.values()):
        before.type(f"kubectl create namespace {name}")
    operator.start(f"{OURS} --install", until="validating-webhook-configuration: created")
    before.type("kubectl apply -f llama.yaml -f qwen.yaml")
    before.type("kubectl wait lws -A --all --for=condition=Available --timeout=120s")
    operator.interrupt()
    before.type(f"kubectl delete {HOOKS}")
    before.type("kubectl delete lease --all -n lws-system")
    before.type("kubectl create -f lws.yaml")
    before.type("kubectl wait deploy -A --all --for=condition=Available --timeout=120s")


def take_over(user: Terminal, operator: Terminal, before: Terminal) -> None:
    """Release the lease when the stand-in has ended, and start our operator when it is waited for.

    LWS's process releases its lease itself when it is told to stop.
    """
    before.start(f"{GONE} && {RELEASE}")
    words = "--operator-running --webhook-url https://127.0.0.1:$HOOKS --silence 2s"
    user.start(f"kohort takeover apply {words}", until="y/N")
    user.answer("y", until="silence")
    before.finish()
    operator.start(OURS, until="message=leading")
    user.finish(but=WAITS)


def give_back(user: Terminal, operator: Terminal) -> None:
    """Stop our operator when it is waited for."""
    user.start("kohort takeover undo", until="y/N")
    user.answer("y")
    operator.interrupt()
    user.finish(but=WAITS)


def test_a_move_to_kohort_and_back_restarts_no_pod(open_window: OpenWindow, tmp_path: Path):
    write_files(tmp_path / "home")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    windows = ("the cluster", "before", "the user", "the operator")
    cluster, before, user, operator = map(open_window, windows)
    operator.type(f"export HOOKS={port}")
    user.type(f"export HOOKS={port}")
    cluster.start(f"kohort up --no-operator {CLOCK} --no-dashboard", until="stop +Ctrl-C")
    bring_up(before, operator)
    uids = before.type(UIDS)
    user.type("kohort doctor")
    user.type("kohort takeover check -A")
    user.type("kohort takeover shadow -A --for 2s")
    take_over(user, operator, before)
    user.type("kubectl get deploy,pods -A -o name")
    give_back(user, operator)
    user.type("kubectl get deploy -A -o name")
    assert before.type(UIDS) == uids
    cluster.interrupt()
    compare("move_from_upstream", user.transcript({str(port): "PORT"}))
