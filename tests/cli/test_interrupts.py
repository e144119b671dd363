"""An interrupt of a command that talks with a cluster."""

import asyncio
import os
import signal

import pytest

from kohort.cli.processes.signals import run_command


def test_an_interrupt_in_the_middle_of_an_answer_is_no_error_of_the_loop():
    """The signal comes after the answer was found to be awaited, and before it is given."""
    errors: list[str] = []

    async def wait() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: errors.append(context["message"]))
        answer: asyncio.Future[None] = loop.create_future()

        def give() -> None:
            assert not answer.done()
            os.kill(os.getpid(), signal.SIGINT)
            answer.set_result(None)

        loop.call_soon(give)
        await answer
        await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        run_command(wait())
    assert errors == []


def test_a_second_interrupt_ends_a_command_that_does_not_end():
    async def insist() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            os.kill(os.getpid(), signal.SIGINT)
            raise AssertionError("the second interrupt was not raised") from None

    with pytest.raises(KeyboardInterrupt):
        run_command(insist())


def test_a_command_that_was_not_interrupted_leaves_the_handler_of_before():
    before = signal.getsignal(signal.SIGINT)

    async def answer() -> int:
        return 4

    assert run_command(answer()) == 4
    assert signal.getsignal(signal.SIGINT) is before


def test_a_cancelled_command_without_an_interrupt_is_not_called_interrupted():
    async def give_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_command(give_up())
