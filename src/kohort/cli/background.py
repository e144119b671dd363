"""
This is where a cluster is started in the background.

The child reports on a pipe: a description of the cluster when it is ready, or a sentence when
it failed. A child that dies without a word closes the pipe, which is a report too.
"""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict

from kohort.cli.embedded import Ready, Wish, host
from kohort.cli.exits import Exit, Failure, describe_fault
from kohort.cli.state import State
from kohort.cluster.errors import KohortError


def detach(wish: Wish) -> Ready:
    """Start a process of its own for the cluster, and wait until it is ready."""
    state = State(wish.name)
    state.make_folder()
    if state.find_pid() is not None:
        raise Failure(f"{wish.name} is running already; stop it with 'kohort down{state.flag}'")
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "kohort", "up", *_arguments(wish), "--report-to", str(writing)]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(state.first_log, flags, 0o600), "wb") as log:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(writing,),
            start_new_session=True,
        )
    os.close(writing)
    try:
        with os.fdopen(reading) as pipe:
            word = pipe.readline()
    except KeyboardInterrupt:
        child.terminate()
        raise
    if not word:
        raise Failure(f"the cluster ended before it was ready; see {state.first_log}")
    answer = json.loads(word)
    if "error" in answer:
        state.first_log.unlink(missing_ok=True)
        state.tidy()
        raise Failure(answer["error"])
    state.first_log.replace(state.log)
    return Ready(**{**answer, "notes": tuple(answer["notes"])})


def report(wish: Wish, pipe: int) -> int:
    """Run a cluster, and report its start to the process at the other end of the pipe."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")

    def announce(ready: Ready) -> None:
        _send(pipe, asdict(ready))

    try:
        host(wish, announce)
    except KohortError as error:
        _send(pipe, {"error": str(error)})
        raise
    except OSError as error:
        _send(pipe, {"error": describe_fault(error)})
        raise
    return Exit.DONE


def _send(pipe: int, word: dict[str, object]) -> None:
    try:
        os.write(pipe, json.dumps(word).encode() + b"\n")
        os.close(pipe)
    except OSError:
        return  # The starting process has gone, or has its report already.


def _arguments(wish: Wish) -> Sequence[str]:
    given: dict[str, object] = {
        "--name": wish.name,
        **{f"--{name.replace('_', '-')}": getattr(wish, name) for name in sorted(wish.asked)},
        "--gang": wish.gang or None,
        "--apis": ",".join(wish.apis) or None,
        "--speed": wish.speed,
        "--port": wish.port,
        "--kubeconfig": wish.kubeconfig,
        "--data-dir": wish.data_dir,
        "--rollout-strategy": wish.strategy,
        "--carrier": wish.carrier,
        "--dashboard-port": wish.dashboard_port,
        "--clock": wish.starts_at.isoformat() if wish.starts_at else None,
    }
    words = [f"{flag}={value}" for flag, value in given.items() if value is not None]
    flags = {
        "--sample": wish.has_sample,
        "--no-operator": not wish.has_operator,
        "--late-events": wish.late_events,
        "--no-dashboard": not wish.has_dashboard,
    }
    return [*words, *(flag for flag, is_set in flags.items() if is_set)]
