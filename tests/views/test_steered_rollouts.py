"""What commands make of a rollout before they write: where to go back to, where to stop."""

from argparse import Namespace

from scenes import Scene, make_lws

from kohort.apis.leaderworkerset.spec import partition_of, template_of
from kohort.apis.leaderworkerset.verbs import VERBS
from kohort.cli.commands.workloads.images import _set_image
from kohort.views.rollouts import find_former
from kohort.views.verbs import VerbLimits, pause

# All groups serve with revision 2, and a third was asked for a moment ago.
ASKED = Scene(lws=make_lws("engine:3"))


def test_an_undo_goes_to_what_serves_although_no_mark_says_so_yet():
    former = find_former(ASKED.picture())
    assert former is not None
    assert former.number == 2


def test_a_pause_before_the_first_step_releases_no_group():
    result = pause(ASKED.picture(), VERBS, VerbLimits())
    assert result.obj is not None
    assert partition_of(result.obj) == 4


def test_an_image_is_set_in_containers_that_run_before_the_others_too():
    lws = make_lws()
    lws["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["initContainers"] = [
        {"name": "fetch", "image": "fetch:1"}
    ]
    result = _set_image(
        Scene(lws=lws).picture(), VERBS, Namespace(images={"fetch": "fetch:2"}, role="")
    )
    assert result.obj is not None
    (fetch,) = template_of(result.obj)["workerTemplate"]["spec"]["initContainers"]
    assert fetch["image"] == "fetch:2"
