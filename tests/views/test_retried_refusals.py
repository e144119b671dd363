"""What the operator tries again by itself is not said to be given up, and what it gives up is."""

import pytest
from scenes import NOW, Scene, make_lws

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cli.render.explanations import write_explanation
from kohort.controller.refusals import RETRY_SECONDS
from kohort.views.explain import explain, is_tried_again
from kohort.views.health import WRITE_FAILS, judge
from kohort.views.picture import take_picture


@pytest.mark.parametrize(
    ("message", "is_retried"),
    [
        ('pods "llama-0" already exists, and is controlled by no object (uid 1)', True),
        ('admission webhook "a.example.com" denied the request: no GPUs on Sundays', True),
        ('pods "llama-0" is forbidden: ValidatingAdmissionPolicy "p" denied request: no', True),
        (
            "Pod llama-0 could not be created: ValidatingAdmissionPolicy 'p' denied request: no",
            True,
        ),
        ('statefulsets.apps is forbidden: User "system:serviceaccount:a:b" cannot create', True),
        ('Service "llama" is invalid: spec.ports[0].name: Forbidden: it is fixed', False),
        ('StatefulSet "llama" is invalid: metadata.name: Invalid value: "llama"', False),
    ],
)
def test_what_the_operator_tries_again_by_itself_is_not_said_to_be_given_up(message, is_retried):
    stalled = {"type": "Stalled", "status": "True", "observedGeneration": 2}
    lws = make_lws(conditions=[{**stalled, "reason": "Refused", "message": message}])
    picture = take_picture(LEADER_WORKER_SET, Scene(lws=lws).sample(), NOW)
    lines = "\n".join(write_explanation(explain(picture), NOW))
    assert ("it is tried again by itself after 30 s" in lines) == is_retried
    assert ("it is not tried again as it stands" in lines) != is_retried
    assert is_tried_again(picture, judge(picture), NOW) == is_retried


def test_the_pause_that_is_told_is_that_of_the_operator():
    assert RETRY_SECONDS == 30


def test_a_write_that_fails_for_long_is_said_to_be_tried_again():
    said = "Service llama could not be changed: failed calling webhook: connection refused"
    stalled = {"type": "Stalled", "status": "True", "observedGeneration": 2}
    lws = make_lws(conditions=[{**stalled, "reason": WRITE_FAILS, "message": said}])
    picture = take_picture(LEADER_WORKER_SET, Scene(lws=lws).sample(), NOW)
    lines = "\n".join(write_explanation(explain(picture), NOW))
    assert said in lines and "it is tried again by itself soon" in lines
    assert is_tried_again(picture, judge(picture), NOW)
