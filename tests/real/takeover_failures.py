"""
Failures at each step of a takeover and of its undo, with what other controllers left.

A command fails at its writes, one after another, and is run again each time. No pod and no child
is made anew, no container restarts, two controllers are never at work, and it ends whole. Before
that, the commands that write nothing tell the same.
"""

import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_gate import Fault, Gate, Plan, fail_each_once, gated
from left_takeovers import LeftTakeover, Others, expect_done, expect_given_back, expect_taken

BLOCKED = 4
HINT = "see 'kohort takeover undo' for the way back"
UNDO = ("undo", "--yes", "--timeout=180s")


@dataclass
class Attempts:
    """The commands of a user before whom a gate stands, and what they must leave as it is."""

    user: LeftTakeover
    gate: Gate
    kubeconfig: Path
    start: tuple[Any, ...]
    others: Others

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run a command to its end, through the gate."""
        return self.gate.run(self.user.kohort(*words, kubeconfig=self.kubeconfig))

    def insist(self, words: Sequence[str], plan: Plan) -> int:
        """Run a command until it is done, while its writes fail; how many failed."""
        self.gate.plan, before = plan, len(self.gate.failed)
        while True:
            known = len(self.gate.failed)
            code, out, err = self.run(*words)
            if len(self.gate.failed) == known:
                assert expect_done((code, out, err), self.user)
                self.gate.plan = lambda write: None
                return known - before
            if self.gate.failed[-1][1] is Fault.REFUSE:
                assert code == 1, out + err
                assert "the policy of this cluster forbids it" in err, err
                assert HINT in err, err
            else:
                assert code == -signal.SIGKILL, out + err

    def expect_same(self) -> None:
        """No pod and no child is made anew, no container restarted, never two at work."""
        assert (self.user.uids(), self.user.list_children()) == self.start
        assert self.user.overlaps == []

    def expect_taken(self) -> None:
        """All are taken over, and nothing of the workloads is lost."""
        self.expect_same()
        expect_taken(self.user)

    def expect_given_back(self) -> None:
        """All is as before the takeover, and nothing of it is left."""
        self.expect_same()
        expect_given_back(self.user, self.others)


@contextmanager
def attempting(user: LeftTakeover, folder: Path) -> Iterator[Attempts]:
    """A gate before the commands of a user."""
    path = folder / "gated.kubeconfig"
    with gated(user.plane, path) as gate:
        start = (user.uids(), user.list_children())
        yield Attempts(user, gate, path, start, user.look_at_others())


def fail_both_ways(tries: Attempts, every: int) -> None:
    """Writes of apply and of undo fail, every so many; both are run again until they are done."""
    faults = (Fault.REFUSE, Fault.KILL_AFTER) if every == 1 else tuple(Fault)
    count = tries.insist(tries.user.apply_words(), fail_each_once(faults, every))
    assert count * every > 20, tries.gate.failed
    tries.expect_taken()
    count = tries.insist(UNDO, fail_each_once(faults, every))
    assert count * every > 10, tries.gate.failed
    tries.expect_given_back()


def look_twice(tries: Attempts) -> None:
    """What a shadow says to stay is what the check lists, and neither command writes."""
    words = ("-A", "--apis", tries.user.apis, "-o", "json")
    found = []
    for command, listed in (
        (("check", *words), "writes"),
        (("shadow", *words, "--for", "5s"), "stayed"),
    ):
        code, out, err = tries.run(*command)
        assert code == BLOCKED, out + err
        writes = json.loads(out)[listed]
        found.append({(w["workload"], w["verb"], w["kind"], w["name"]) for w in writes})
    assert found[0] == found[1]
    assert {kind for _, _, kind, _ in found[0]} >= {"Pod", "Deployment", "InferenceService"}
    assert tries.gate.writes == []
    tries.expect_same()
