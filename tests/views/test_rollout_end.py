"""When ``kohort rollout status`` says that a rollout is over."""

from scenes import Scene

from kohort.cli.commands.workloads import status
from kohort.cli.exits import Exit
from kohort.views.health import Word, judge


def look(scene: Scene) -> int | None:
    return status._Watcher(is_json=False)._look(scene.picture())


def test_it_is_over_when_all_groups_are_ready_and_nothing_moves():
    assert look(Scene()) is Exit.DONE


def test_it_is_not_over_while_surge_is_still_given_back(capsys):
    scene = Scene((2, 2, 2, 2, 2))
    assert judge(scene.picture()).word is Word.READY
    assert look(scene) is None
