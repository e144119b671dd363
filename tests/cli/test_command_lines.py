"""How the command line is read: help, mistakes, colours and codes, without any cluster."""

import io
import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from command_faults import TABLE
from kohort import __version__
from kohort.cli.commands.up import _suggest
from kohort.cli.embedded import Ready, Wish, _choose_port
from kohort.cli.exits import Exit
from kohort.cli.main import COMMANDS
from kohort.cli.table import Group
from kohort.cli.terminal import RED, control, paint

HEAVY = (
    "aiohttp",
    "asyncio",
    "cryptography",
    "importlib.metadata",
    "kohort.simulator",
    "msgspec",
    "ssl",
    "yaml",
)


def paths(group: Group = COMMANDS, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [before]
    for name, entry in group.entries.items():
        inner = entry.load()
        path = (*before, name)
        found += paths(inner, path) if isinstance(inner, Group) else [path]
    return found


@pytest.mark.parametrize("path", paths(), ids=" ".join)
def test_help_shows_examples_before_flags_or_commands(path, run_kohort):
    told = run_kohort(*path, "--help")
    assert told.code == 0
    examples = told.out.index("examples:")
    assert examples < max(told.out.find("options:"), told.out.find("commands:"))


ABOUT_ONE = [
    tuple(name.split())
    for name, cells in TABLE.items()
    if "lws/llama" in str(cells["interrupted"]) and name != "convert"
]


@pytest.mark.parametrize("path", ABOUT_ONE, ids=" ".join)
def test_help_of_a_command_about_one_workload_asks_for_one(path, run_kohort):
    usage = " ".join(run_kohort(*path, "--help").out.partition("examples:")[0].split())
    assert usage.count("KIND/NAME") + usage.count("KIND[/NAME]") == 1
    assert "..." not in usage.replace("CONTAINER=IMAGE ...", "")


def test_help_lists_the_exit_codes(run_kohort):
    told = run_kohort("--help").out.partition("exit codes:")[2].split()
    assert [word for word in told if word.isdigit()] == [str(code.value) for code in Exit]


def test_help_imports_nothing_that_takes_time():
    code = (
        "import sys; from kohort.cli.main import main; main(['--help']);"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_help_shows_the_form_that_was_called(run_kohort, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-kohort"])
    assert "  kubectl kohort up\n" in run_kohort("--help").out
    assert "usage: kubectl kohort up " in run_kohort("up", "--help").out


def test_help_of_a_command_can_be_asked_for_in_words(run_kohort):
    assert run_kohort("help", "down").out == run_kohort("down", "--help").out


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("uo",), "(did you mean 'up'?)"),
        (("up", "--node", "3"), "(did you mean '--nodes'?)"),
        (("sim", "clok"), "(did you mean 'clock'?)"),
        (("sim", "node", "recovr"), "(did you mean 'recover'?)"),
    ],
)
def test_what_is_misspelled_is_answered_with_the_nearest_name(words, hint, run_kohort):
    told = run_kohort(*words)
    assert told.code == 2
    assert hint in told.err


@pytest.mark.parametrize(
    "words",
    [
        ("--nodes", "-1"),
        ("--nodes", "many"),
        ("--speed", "0"),
        ("--speed", "nan"),
        ("--speed", "1e300"),
        ("--data-dir", ""),
        ("--kubeconfig", ""),
        ("--port", "65536"),
        ("--racks", "0"),
        ("--racks", "3", "--nodes", "2"),
        ("--name", "Big Name"),
        ("--name", "../up"),
        ("--output", "yaml"),
        ("--clock", "noon"),
        ("--clock", "2026-01-01T09:00:00"),
        ("--clock", "2026-01-01T09:00:00Z", "--data-dir", "kept"),
        ("extra",),
    ],
)
def test_a_bad_value_is_a_usage_error_of_one_sentence(words, run_kohort):
    told = run_kohort("up", *words)
    assert told.code == 2
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [("step",), ("pause", "3"), ("step", "-1"), ("step", "0"), ("speed",), ("speed", "0")],
)
def test_only_a_step_and_a_speed_of_the_clock_take_a_value(words, run_kohort):
    assert run_kohort("sim", "clock", *words).code == 2


def test_commands_for_a_cluster_that_does_not_run_say_so(run_kohort):
    told = run_kohort("sim", "clock", "--name", "ci")
    assert told.code == 1
    assert told.err == "error: ci is not running; start it with 'kohort up --name ci'\n"


def test_what_is_suggested_exists_where_the_reader_stands(tmp_path, monkeypatch):
    ready = Ready("sim", "", "", 1, 8, 64, 2, 1.0, operator=True)
    monkeypatch.chdir(tmp_path)
    assert "examples" not in _suggest(ready)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "lws.yaml").touch()
    assert "kubectl apply -f examples/lws.yaml " in _suggest(ready)
    (tmp_path / "examples" / "lws-gang.yaml").touch()
    assert "examples/lws-gang.yaml " in _suggest(replace(ready, gang="volcano"))


def test_ending_a_cluster_that_does_not_run_is_no_error(run_kohort):
    told = run_kohort("down")
    assert (told.code, told.out) == (0, "no cluster is running\n")


def test_the_version_can_be_read_by_programs(run_kohort):
    assert json.loads(run_kohort("version", "-o", "json").out)["kohort"] == __version__
    assert __version__ in run_kohort("--version").out


class Terminal:
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_whose_owner_did_not_say_no(monkeypatch, run_kohort):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert paint("word", RED, Terminal()) == control("\x1b[31m") + "word" + control("\x1b[0m")
    assert paint("word", RED, io.StringIO()) == "word"
    monkeypatch.setenv("NO_COLOR", "")
    run_kohort("--no-color", "version")
    assert paint("word", RED, Terminal()) == "word"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_understood_by_their_shell(shell, run_kohort):
    script = run_kohort("completion", shell).out
    assert "--gpus-per-node" in script or "gpus-per-node" in script
    assert "report-to" not in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_completion_knows_the_words_after_a_command(run_kohort):
    script = run_kohort("completion", "bash").out
    ask = 'COMP_WORDS=(kohort sim node ""); COMP_CWORD=3; _kohort; echo "${COMPREPLY[@]}"'
    command = ["bash", "-c", f"{script}\n{ask}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["add", "drain", "fail", "recover", "--help"]


def wish(tmp_path, port: int | None = None) -> Wish:
    return Wish("sim", 1, 1, 1, 1.0, port, None, tmp_path)


def test_the_port_of_a_kept_cluster_is_chosen_again_if_it_is_free(tmp_path, unused_port):
    (tmp_path / "port").write_text(str(unused_port))
    assert _choose_port(wish(tmp_path)) == unused_port
    assert _choose_port(wish(tmp_path, 7777)) == 7777
    (tmp_path / "port").write_text("none")
    assert _choose_port(wish(tmp_path)) in (0, 6443)


def test_a_taken_port_is_passed_over(tmp_path, taken_port, monkeypatch):
    monkeypatch.setattr("kohort.cli.embedded.PORT_DEFAULT", taken_port)
    assert _choose_port(wish(tmp_path)) == 0
