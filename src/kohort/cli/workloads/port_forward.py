"""
This is where a local port is kept connected to a pod that may be replaced.

``kubectl port-forward`` does the forwarding: it knows every way to log in. When it ends by
itself its pod has gone or the connection broke, so another pod is chosen and it is started again
on the same local port. Failures in a row are waited for, longer each time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from kohort.cli.exits import Failure

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
        """Forward to one pod until that ends; what kubectl said last."""
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
