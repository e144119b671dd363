"""A forwarded port stays connected over rollouts, with a kubectl that tells what it was asked."""

import asyncio
from pathlib import Path

import pytest

from kohort.cli.commands.workloads.connect import PortForward
from kohort.cli.exits import Failure

FAKE = """\
#!/bin/sh
echo "$1" >> {log}
[ "$1" = last ] && exec sleep 600
echo "lost connection to $1" >&2
"""


def make_kubectl(folder: Path) -> tuple[Path, Path]:
    program, log = folder / "kubectl", folder / "log"
    program.write_text(FAKE.format(log=log))
    program.chmod(0o755)
    return program, log


@pytest.mark.parametrize("ports", ["1:2:3", "\u00b2", "0", "70000", "8000:", ":", "x"])
def test_what_is_no_port_is_a_usage_error(run_kohort, ports: str):
    told = run_kohort("connect", "lws/a", ports)
    assert (told.code, "a port is a number from 1 to 65535" in told.err) == (2, True)


async def test_it_connects_to_the_successor_when_a_connection_ends(tmp_path: Path):
    program, log = make_kubectl(tmp_path)
    pods, said, settled = iter(["first", "second", "last"]), [], asyncio.Event()

    async def choose() -> str:
        return next(pods)

    def say(text: str) -> None:
        said.append(text)
        if text == "connecting to last again":
            settled.set()

    forward = PortForward(choose, lambda pod: [str(program), pod], say, pauses=(0, 0, 0))
    task = asyncio.create_task(forward.run())
    await asyncio.wait_for(settled.wait(), 30)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert said[:2] == [
        "connected to first",
        "the connection to first ended: lost connection to first",
    ]
    assert log.read_text().split()[:2] == ["first", "second"]


async def test_one_that_never_holds_is_given_up(tmp_path: Path):
    program, _ = make_kubectl(tmp_path)

    async def choose() -> str:
        return "gone"

    forward = PortForward(choose, lambda pod: [str(program), pod], lambda text: None, (0, 0))
    with pytest.raises(Failure, match="ends at once: lost connection to gone"):
        await forward.run()


async def test_a_missing_kubectl_is_said(tmp_path: Path):
    async def choose() -> str:
        return "pod"

    missing = str(tmp_path / "kubectl")
    with pytest.raises(Failure, match="kubectl is not on PATH"):
        await PortForward(choose, lambda pod: [missing, pod], lambda text: None).run()
