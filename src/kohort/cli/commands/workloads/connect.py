"""
This is where ``kohort connect`` forwards a local port to a leader that is ready.

The leader of the lowest ready group is taken, and after a rollout its successor. Nothing listens
in simulated pods, so on an embedded cluster the command says that instead of failing later.

``kubectl port-forward`` does the forwarding: it knows every way to log in. When it ends by
itself its pod has gone or the connection broke, so another pod is chosen and it is started again
on the same local port. Failures in a row are waited for, longer each time.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure, UsageError
from kohort.cli.parser import Parser
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.arguments import add_place, read_target

_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
_STEADY_SECONDS = 10.0  # a connection that lasted so long has not failed


class PortForward:
    """Forwards one local port for as long as the user wants."""

    def __init__(
        self,
        choose: Callable[[], Awaitable[str]],  # the pod to connect to; waits until there is one
        command: Callable[[str], Sequence[str]],  # the command line for a pod
        say: Callable[[str], None],
        pauses: Sequence[float] = _PAUSES,
    ) -> None:
        self._choose = choose
        self._command = command
        self._say = say
        self._pauses = pauses

    async def run(self) -> None:
        """Connect, and again whenever the connection ends; raises Failure if it never holds."""
        failed = 0
        loop = asyncio.get_running_loop()
        while True:
            pod = await self._choose()
            self._say(f"connected to {pod}" if not failed else f"connecting to {pod} again")
            began = loop.time()
            words = await self._forward(pod)
            failed = failed + 1 if loop.time() - began < _STEADY_SECONDS else 1
            if failed > len(self._pauses):
                raise Failure(f"kubectl port-forward to pod/{pod} ends at once: {words}")
            self._say(f"the connection to {pod} ended: {words or 'the pod is gone'}")
            await asyncio.sleep(self._pauses[failed - 1])

    async def _forward(self, pod: str) -> str:
        """Forward to one pod until kubectl ends; returns the last line of its stderr."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command(pod), stdout=asyncio.subprocess.DEVNULL, stderr=pipe
            )
        except FileNotFoundError as error:
            raise Failure("kubectl is not on PATH: install it, or add its folder") from error
        last = ""
        try:
            assert process.stderr is not None
            async for line in process.stderr:
                last = line.decode(errors="replace").strip() or last
            await process.wait()
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()
        return last


if TYPE_CHECKING:
    from kohort.cli.workloads.source import Source
    from kohort.cluster.objects import Object
    from kohort.views.lineage import MemberPlace
    from kohort.views.picture import Picture

_PORT_MAX = 65535
_PORTS = re.compile("(?:([0-9]{1,5}):)?([0-9]{1,5})")
_POLL_SECONDS = 2.0


def _make_parser(prog: str) -> Parser:
    from kohort.cli.workloads.arguments import add_members

    summary = "forward a local port to the leader of a ready group, and again after a rollout"
    examples = (
        "lws/llama",
        "lws/llama 8000",
        "ms/chat 9000:8000 --role prefill",
        "lws/a --dry-run",
    )
    parser = Parser(prog, summary, examples)
    parser.add_argument(
        "target",
        nargs="+",
        metavar="KIND/NAME [PORT]",
        help="one workload; a port, or LOCAL:REMOTE (default: the first port of the container)",
    )
    add_members(parser)
    parser.add_argument("--dry-run", action="store_true", help="only print the kubectl command")
    add_place(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    arguments.target, arguments.port = _split(arguments.target)
    read_target(arguments.target)
    return run_command(_connect(arguments))


def _split(words: list[str]) -> tuple[list[str], tuple[int, int] | None]:
    """The words that name the workload, and the ports if the last word gives some."""
    *rest, last = words
    if not rest or not ("/" in rest[0] or last.replace(":", "").isdigit()):
        return words, None
    found = _PORTS.fullmatch(last)
    ports = (int(found[1] or found[2]), int(found[2])) if found else (0, 0)
    if not all(1 <= port <= _PORT_MAX for port in ports):
        raise UsageError(f"a port is a number from 1 to {_PORT_MAX}, or LOCAL:REMOTE, not {last!r}")
    return rest, ports


async def _connect(arguments: argparse.Namespace) -> int:
    from kohort.cli.commands.workloads.connect import PortForward
    from kohort.cli.workloads.descendants import is_simulated
    from kohort.cli.workloads.source import open_source

    async with open_source(arguments, read_target(arguments.target)) as source:
        leader = await _find_leader(source, arguments)
        if leader is None:
            name = " ".join(arguments.target)
            raise Failure(f"no group of {name} is ready; ask 'kohort why {name}'")
        ports = arguments.port or _find_port(leader.pod)

        def write(pod: str) -> list[str]:
            return _write_command(arguments, source.namespace, pod, ports)

        if arguments.dry_run:
            show(" ".join(write(leader.name)))
            return Exit.DONE
        if await is_simulated(source.cluster):
            raise Failure(
                f"pod/{leader.name} is simulated: nothing listens there, so there is nothing to "
                f"connect to; on a real cluster this runs '{' '.join(write(leader.name))}'"
            )
        show(f"localhost:{ports[0]} leads to port {ports[1]} of a ready leader", file=sys.stderr)

        async def choose() -> str:
            while (found := await _find_leader(source, arguments)) is None:
                await asyncio.sleep(_POLL_SECONDS)
            return found.name

        await PortForward(choose, write, lambda text: show(text, file=sys.stderr)).run()
    return Exit.DONE


async def _find_leader(source: "Source", arguments: argparse.Namespace) -> "MemberPlace | None":
    """The first leader of a ready group; of a role that has none, the first member."""
    from kohort.cli.workloads.arguments import choose_places

    picture = await source.read_one()
    places = choose_places(picture, arguments)
    leaders = [place for place in places if place.index == 0]
    return next((p for p in leaders or places if p.is_ready and _is_whole(picture, p)), None)


def _is_whole(picture: "Picture", place: "MemberPlace") -> bool:
    """Whether the unit of a member is ready: pods that it lacks are in no list of pods."""
    from kohort.model.units import Phase

    groups = picture.reading.observed.groups if picture.reading else ()
    group = next((group for group in groups if group.ordinal == place.group), None)
    if group is None:
        return False
    held = next((held for held in group.roles if held.role == place.role), None)
    if held is None:
        return group.phase is Phase.READY
    # Where another controller has the instances of a role, each pod serves by itself.
    mine = (i for i in held.instances if i.ordinal == place.instance)
    return place.instance is None or any(i.phase is Phase.READY for i in mine)


def _find_port(pod: "Object") -> tuple[int, int]:
    from kohort.cli.workloads.arguments import choose_container

    name = choose_container(pod, "")
    spec = pod.get("spec") or {}
    held = next(c for c in spec.get("containers") or () if c["name"] == name)
    for port in held.get("ports") or ():
        number = int(port["containerPort"])
        return number, number
    raise UsageError(f"container {name} names no port: say which, such as 'kohort connect … 8000'")


def _write_command(
    arguments: argparse.Namespace, namespace: str, pod: str, ports: tuple[int, int]
) -> list[str]:
    words = ["kubectl", "port-forward", f"pod/{pod}", f"{ports[0]}:{ports[1]}", "-n", namespace]
    if arguments.kubeconfig:
        words += ["--kubeconfig", str(arguments.kubeconfig)]
    if arguments.context:
        words += ["--context", arguments.context]
    return words


CONNECT = Command(_make_parser, _run)
