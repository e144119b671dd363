"""The driver of scripts: what is typed and said, the last picture of a live view, and the masks."""

from pathlib import Path

import pytest
from terminal import open_terminal

ENVIRONMENT = {"HOME": "/nowhere"}


def test_a_transcript_has_commands_answers_and_failures(tmp_path: Path):
    with open_terminal(tmp_path, ENVIRONMENT, "a user") as terminal:
        terminal.type("echo one; stty size")
        terminal.type("cd /nowhere-at-all 2>/dev/null")
    lines = ["# a user", "$ echo one; stty size", "one", "60 120"]
    lines += ["$ cd /nowhere-at-all 2>/dev/null", "[exit code 1]"]
    assert terminal.transcript().splitlines() == lines


def test_a_command_that_stays_is_interrupted(tmp_path: Path):
    with open_terminal(tmp_path, ENVIRONMENT) as terminal:
        terminal.start("sh -c 'echo ready; exec cat'", until="ready\n")
        terminal.interrupt()
    assert terminal.transcript() == "$ sh -c 'echo ready; exec cat'\nready\n[exit code 130]\n"


def test_a_live_view_is_its_last_picture_without_colours(tmp_path: Path):
    with open_terminal(tmp_path, ENVIRONMENT) as terminal:
        said = terminal.type(r"printf '\033[H\033[Jfirst\n\033[H\033[J\033[1mlast\033[0m\n'")
    assert said == "last\n"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("https://127.0.0.1:34567/x", "https://127.0.0.1:PORT/x"),
        ("http://127.0.0.1:7070/?token=a-b_c", "http://127.0.0.1:PORT/?token=TOKEN"),
        ("uid 0b6a1f2e-0000-4000-8000-00000000abcd.", "uid UID."),
        ("/tmp/home/file", "~/file"),
    ],
)
def test_what_cannot_be_fixed_is_masked(tmp_path: Path, said: str, shown: str):
    with open_terminal(tmp_path, ENVIRONMENT) as terminal:
        terminal.type(f"echo {said}")
    assert terminal.transcript({"/tmp/home": "~"}).splitlines()[-1] == shown
