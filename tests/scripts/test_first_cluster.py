"""Script (a): a platform engineer without a cluster sees a group come up, roll and heal."""

import pytest
from terminal import OpenWindow, Terminal, compare

pytestmark = pytest.mark.slow
CLOCK = "--clock 2026-01-01T09:00:00Z"
IMAGE = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
PATCH = f'[{{"op": "replace", "path": "{IMAGE}", "value": "lmsysorg/sglang:v0.5.4"}}]'


def see_it_start(cluster: Terminal, user: Terminal, clock: Terminal) -> None:
    """From nothing to a tree that is ready."""
    cluster.start(f"kohort up {CLOCK} --port 0 --dashboard-port 0", until="stop +Ctrl-C")
    user.type("kohort new lws --example | kubectl apply -f -")
    user.type("kohort sim clock step 2s")
    user.type("kubectl get lws,pods")
    user.start("kohort get lws/llama -w", until="starting 2s")
    clock.type("kohort sim clock step 20s")
    user.expect("ready 17s")
    user.interrupt()


def see_it_roll_and_heal(user: Terminal) -> None:
    """A rollout, and a lost node."""
    user.note("a rollout, one group at a time")
    user.type(f"kubectl patch lws llama --type=json -p '{PATCH}'")
    user.type("kohort sim clock step 3s")
    user.type("kohort get lws/llama")
    user.type("kohort why lws/llama")
    user.type("kohort sim clock step 1m")
    user.type("kohort rollout history lws/llama")
    user.note("a node is lost: one group is made anew, the other stands")
    user.type("kohort sim node fail gpu-03")
    user.type("kohort sim clock step 1m")
    user.type("kohort get lws/llama")
    user.type("kohort why lws/llama")
    user.type("kubectl delete pod llama-1-1 --force --grace-period=0")
    user.type("kohort sim clock step 20s")
    user.type("kohort get lws/llama")
    user.type("kubectl get lws,pods -o wide")


def test_the_first_cluster_in_five_minutes(open_window: OpenWindow):
    cluster, user, clock = map(open_window, ("the cluster", "the user", "the clock"))
    see_it_start(cluster, user, clock)
    see_it_roll_and_heal(user)
    cluster.interrupt()
    user.type("kohort clusters")
    compare("first_cluster", "\n".join(w.transcript() for w in (cluster, user, clock)))
