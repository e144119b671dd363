"""This is where a process learns that it is to end."""

import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

_WANTED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heed_interrupts() -> None:
    """
    Let SIGINT interrupt this process even if its parent ignored the signal.

    A shell without job control starts background commands with SIGINT ignored, and Python
    leaves it so: a command that stays could then be ended only by other signals.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
