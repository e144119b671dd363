"""Script (c): an SRE is paged, sees what is stuck, and takes the next safe step."""

import json
import re
from pathlib import Path

import pytest
from terminal import OpenWindow, compare

pytestmark = pytest.mark.slow
CLOCK = "--clock 2026-01-01T09:00:00Z"
LWS = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: llama, namespace: prod}
spec:
  replicas: 3
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      metadata: {annotations: {}}
      spec:
        containers:
        - name: engine
          image: sglang:0.5.3
          resources: {limits: {nvidia.com/gpu: "8"}}
"""
# A change whose engine ends soon after it started: too large a share of the memory, say.
CRASH = {"sim.kohort.dev/crash-after": "2s", "sim.kohort.dev/crash-exit-code": "137"}


def write_files(folder: Path) -> None:
    changed = LWS.replace("annotations: {}", f"annotations: {json.dumps(CRASH)}")
    (folder / "llama.yaml").write_text(LWS)
    (folder / "llama-v2.yaml").write_text(changed.replace("0.5.3", "0.5.4"))


def test_a_stuck_rollout_is_seen_and_undone(open_window: OpenWindow, tmp_path: Path):
    write_files(tmp_path / "home")
    cluster, user, clock = map(open_window, ("the cluster", "the user", "the clock"))
    cluster.start(f"kohort up {CLOCK} --port 0 --no-dashboard", until="stop +Ctrl-C")
    clock.type("kubectl create namespace prod")
    clock.type("kubectl apply -f llama.yaml")
    clock.type("kohort sim clock step 1m")
    clock.type("kubectl apply -f llama-v2.yaml")
    clock.type("kohort sim clock step 5m")
    user.type("kohort get -A --blocked")
    user.start("kohort get lws/llama -n prod -w", until="CrashLoopBackOff")
    user.interrupt()
    user.type("kohort why lws/llama -n prod")
    user.type("kubectl config set-context --current --namespace=prod")
    user.type("kohort logs lws/llama --group 2 --previous --tail 3")
    user.type("kohort rollout pause lws/llama")
    user.type("kohort rollout undo lws/llama --dry-run")
    user.type("kohort rollout resume lws/llama")
    user.type("kohort rollout undo lws/llama")
    user.start("kohort rollout status lws/llama --timeout 30m; echo $?", until="waiting|ready")
    clock.type("kohort sim clock step 2m")
    user.finish(last=2)
    user.type("kohort get lws/llama")
    user.type("kohort record lws/llama -o incident.jsonl")
    user.type("kohort replay incident.jsonl 2>/dev/null | grep -o 'take down.*'")
    cluster.interrupt()
    said = "\n".join(w.transcript() for w in (cluster, user, clock))
    # Where a pod that is made anew finds room depends on which of the old ones has left first.
    compare("watched_rollout", re.sub(r"\bgpu-\d+", "NODE", said))
