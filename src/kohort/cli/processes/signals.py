"""
This is where commands handle SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end.

A second signal ends the process at once.
"""

import signal
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Coroutine

T = TypeVar("T")

_WANTED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heed_interrupts() -> None:
    """
    Let SIGINT interrupt this process even if its parent ignored the signal.

    A shell without job control starts background commands with SIGINT ignored, and Python
    leaves it so: a command that stays could then be ended only by other signals.
    """
    if _is_main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run_command(work: "Coroutine[Any, Any, T]") -> T:
    """
    Run a coroutine in an event loop of its own; an interrupt cancels it and is raised at its end.

    asyncio's own handler cancels in the middle of whatever runs. A connection that was just made
    then answers a future that no task waits for, and the loop prints a traceback. This one asks the
    loop to cancel, which happens between two steps. A second interrupt is raised at once.
    """
    import asyncio

    if not _is_main_thread():
        return asyncio.run(work)
    presses = 0

    async def cancel_when_interrupted() -> T:
        nonlocal presses
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def press(_number: int, _frame: object) -> None:
            nonlocal presses
            presses += 1
            if presses > 1:
                raise KeyboardInterrupt
            loop.call_soon_threadsafe(task.cancel)

        before = signal.signal(signal.SIGINT, press)
        try:
            return await work
        finally:
            signal.signal(signal.SIGINT, before)

    try:
        return asyncio.run(cancel_when_interrupted())
    except asyncio.CancelledError:
        if presses:
            raise KeyboardInterrupt from None
        raise


def catch_signals() -> "asyncio.Event":
    """
    An event that is set by the first request to end; a second one ends at once.

    The second one is left to the system: an exception in the middle of an orderly end would
    leave tasks behind that others wait for.
    """
    import asyncio

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        stop.set()
        for number in _WANTED:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in _WANTED:
        loop.add_signal_handler(number, end)
    return stop


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
