"""What tenants write reaches a terminal spelled out, and breaks no line."""

import io
import json
import logging
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kohort.cli.exits import Failure, end
from kohort.cli.render.lines import align
from kohort.cli.render.values import write_value
from kohort.cli.terminal import RED, control, escape, guarded_output, join_lines, paint, show
from kohort.observability.logs import LogForm, begin_logging

EVIL = "a\x1b[2Jb\u202ec\nd\re\x9bf\u2028g\x07"
SPELLED = "a\\x1b[2Jb\\u202ec\\nd\\re\\x9bf\\u2028g\\x07"
TEXTS = st.text(st.characters() | st.sampled_from("\x1b\x9b\n\r\t\u202e\u2066\u200f\x00\ufeff"))


class Terminal(io.StringIO):
    """A stream that shows colour."""

    def isatty(self):
        return True


@contextmanager
def guarded_terminal():
    """What a command prints on a terminal."""
    stream = Terminal()
    with redirect_stdout(stream), redirect_stderr(stream), guarded_output():
        yield stream


def test_what_a_terminal_would_obey_is_spelled_out():
    assert escape(EVIL) == SPELLED
    assert escape("✓ 中文 → é") == "✓ 中文 → é"


def test_everything_that_is_printed_passes_the_guard():
    with guarded_terminal() as stream:
        print(EVIL, file=sys.stderr)
        sys.stdout.writelines([EVIL])
    shown = SPELLED.replace("\\n", "\n")
    assert stream.getvalue() == f"{shown}\n{shown}"


def test_an_error_is_one_line_whatever_the_server_said(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    def fail():
        raise Failure(f"the server says {EVIL}")

    with guarded_terminal() as stream:
        end(fail)
    assert stream.getvalue() == f"error: the server says {SPELLED}\n"


def test_colour_of_ours_reaches_the_terminal_and_others_do_not(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with guarded_terminal() as stream:
        show(f"{paint('x', RED, sys.stdout)} \x1b[31my\x1b[0m")
    assert stream.getvalue() == "\x1b[31mx\x1b[0m \\x1b[31my\\x1b[0m\n"


@given(st.lists(TEXTS, min_size=1))
@example([control("\x1b[31m")[:-1] + "x"])
@example(["\x00" * 40])
def test_a_line_stays_a_line_and_nothing_foreign_is_obeyed(lines):
    with guarded_terminal() as stream:
        show(*lines)
    shown = stream.getvalue().removesuffix("\n").split("\n")
    assert len(shown) == len(lines)
    assert all(line.isprintable() for line in shown)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1))
def test_columns_stand_below_each_other_whatever_is_in_them(rows):
    lines = align([("NAME", "REASON"), *rows])
    assert len(lines) == len(rows) + 1
    assert join_lines(lines) == "\n".join(lines)


@given(TEXTS)
def test_programs_get_every_character_and_terminals_none_to_obey(text):
    if any("\ud800" <= c <= "\udfff" for c in text):
        return
    for form, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        written = write_value({"message": text}, form)
        assert read(written) == {"message": text}
        assert written.replace("\n", "").isprintable()


@pytest.mark.parametrize("form", [LogForm.TEXT, LogForm.JSON])
def test_a_log_line_is_one_line_without_control_characters(form, capsys):
    begin_logging(form, logging.INFO)
    logging.getLogger("kohort").warning("cannot read", extra={"facts": {"error": EVIL}})
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert line.removesuffix("\n").isprintable()
