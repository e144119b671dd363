"""What was acknowledged survives a killed process, at whatever moment it is killed."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from children import started
from kohort.apiserver.store.sqlite import open_store

WRITES = 1_000
ROUNDS = 20
CHILD = """
import sys
from kohort.apiserver.store.sqlite import open_store

path, prefix, group = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = open_store(path, history_max=200)
store.on_dirty = lambda: None
waiting = []
for number in range(1000):
    name = f"{prefix}-{number}"
    entry = store.put("things", ("ns", name), {"metadata": {"name": name}}, {"name": name})
    waiting.append(f"{name} {entry.rv}")
    if len(waiting) == group:
        store.flush()
        print("\\n".join(waiting), flush=True)
        waiting.clear()
"""


def write_until_killed(path: Path, prefix: str, group: int, acknowledged: int) -> dict[str, int]:
    """The versions that a writer acknowledged before it was killed."""
    command = [sys.executable, "-c", CHILD, str(path), prefix, str(group)]
    with started(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(acknowledged)]
        child.kill()
        # What it had said and we had not yet read counts as well.
        lines += child.stdout.readlines()
    whole = [line.split() for line in lines if line.endswith("\n")]
    return {name: int(version) for name, version in whole}


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path):
    path = tmp_path / "store.db"
    chance = random.Random(20)
    known: dict[str, int] = {}
    for number in range(ROUNDS):
        group = chance.choice((1, 2, 5))
        acknowledged = write_until_killed(path, f"r{number}", group, chance.randrange(WRITES))
        assert all(version > max(known.values(), default=1) for version in acknowledged.values())
        known.update(acknowledged)
        store = open_store(path, history_max=200)
        kept = {entry.name: entry.rv for entry in store.bucket("things").entries.values()}
        assert known.items() <= kept.items()
        assert store.revision >= max(known.values(), default=1)
        recent = store.since("things", store.bucket("things").floor)
        assert [event.rv for event in recent] == sorted(kept.values())[-len(recent) or None :]
        store.close()
        known = kept
