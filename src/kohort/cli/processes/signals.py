"""This is where a process learns that it is to end."""

import asyncio
import signal

_WANTED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def catch_signals() -> asyncio.Event:
    """An event that is set by the first request to end; a second one ends at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        stop.set()
        for number in _WANTED:
            loop.remove_signal_handler(number)

    for number in _WANTED:
        loop.add_signal_handler(number, end)
    return stop
