"""``kohort get -w`` without a terminal: one line for each change, and which words it has."""

from argparse import Namespace

import pytest
from scenes import Scene, bad_image

from kohort.cli.commands.workloads.get import _LinePrinter

BLOCKED = Scene((1, 1, 1, 2), boundary=3, waiting={"llama-3-2": bad_image()})


def follow(*looks: Scene | None, **flags: bool) -> None:
    printer = _LinePrinter(Namespace(**{"all_namespaces": False, "blocked": False, **flags}))
    for scene in looks:
        printer.print([scene.picture()] if scene else [])


def test_one_that_needs_no_more_help_is_not_called_gone(capsys: pytest.CaptureFixture[str]):
    follow(BLOCKED, Scene(), Scene(), blocked=True)
    first, second = capsys.readouterr().out.splitlines()
    assert "blocked: ImagePullBackOff" in first
    assert second == (
        "LeaderWorkerSet/llama   groups 4/4 ready   revision 2 (4/4)   ready: "
        "all 4 groups are ready"
    )


def test_one_that_is_gone_is_named_with_its_namespace_where_there_are_several(
    capsys: pytest.CaptureFixture[str],
):
    follow(Scene(), None, all_namespaces=True)
    assert capsys.readouterr().out.splitlines()[1] == "LeaderWorkerSet/default/llama   gone"
