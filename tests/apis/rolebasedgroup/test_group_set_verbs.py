"""What a user's verb changes in a RoleBasedGroupSet: the template of its groups."""

from typing import Any

from test_group_verbs import make_group, paused, refer, role, template

from kohort.apis.rolebasedgroup.group_set.verbs import SET_VERBS
from kohort.apis.user_edits import HELD, RESTARTED, restart_templates
from kohort.cluster.objects import Object, annotations_of


def make_set(*roles: Object, **more: Any) -> Object:
    spec = make_group(*roles, **more)["spec"]
    marks = {"labels": {"app": "chat"}}
    return {
        "metadata": {"name": "x", "annotations": {"note": "a"}},
        "spec": {"replicas": 3, "groupTemplate": {**marks, "spec": spec}},
    }


def group_of(found: Object) -> Object:
    return {"spec": found["spec"]["groupTemplate"]["spec"]}


def test_a_pause_holds_the_roles_of_the_template_and_a_resume_lets_them_go():
    held = SET_VERBS.hold(make_set(role("a"), role("b")), 0, "")
    assert (paused(group_of(held)), SET_VERBS.list_held(held)) == ([True, True], ("a", "b"))
    assert annotations_of(held)[HELD] == "[]"
    free = SET_VERBS.release(held, "")
    assert (paused(group_of(free)), SET_VERBS.list_held(free)) == ([False, False], ())
    assert annotations_of(free) == {"note": "a"}


def test_a_pause_of_one_role_leaves_the_others():
    held = SET_VERBS.hold(make_set(role("a"), role("b")), 0, "b")
    assert paused(group_of(held)) == [None, True]


def test_replicas_labels_and_the_set_itself_stay():
    before = make_set(role("a"))
    changed = SET_VERBS.hold(before, 0, "")
    assert changed["spec"]["replicas"] == 3
    assert changed["spec"]["groupTemplate"]["labels"] == {"app": "chat"}
    assert "roles" not in changed["spec"]
    assert before == make_set(role("a"))


def test_a_restart_stamps_the_templates_of_all_roles_and_the_shared_ones():
    before = make_set(role("a"), role("b", **refer()), shared=template())
    spec = group_of(restart_templates(SET_VERBS, before, "now"))["spec"]
    stamped = [
        spec["roles"][0]["standalonePattern"]["template"],
        spec["roleTemplates"][0]["template"],
    ]
    assert [annotations_of(each) for each in stamped] == [{RESTARTED: "now"}] * 2


def test_a_promote_removes_partitions_and_pauses_of_the_template():
    rolling = {"partition": 1, "paused": True, "maxSurge": 1}
    held = {**role("a"), "rolloutStrategy": {"rollingUpdate": rolling}}
    (free,) = group_of(SET_VERBS.finish(make_set(held), ""))["spec"]["roles"]
    assert free["rolloutStrategy"]["rollingUpdate"] == {"maxSurge": 1}


def test_the_pods_of_one_group_are_counted_by_role():
    engine = {
        "name": "e",
        "replicas": 2,
        "leaderWorkerPattern": {"size": 3, "template": template()},
    }
    counts = SET_VERBS.count_pods(make_set(engine, {**role("r"), "replicas": 4}), "")
    assert counts == {"e": 6, "r": 4}


def test_a_role_that_may_only_be_updated_in_place_is_known():
    only = {**role("a"), "rolloutStrategy": {"rollingUpdate": {"type": "InPlaceOnly"}}}
    assert SET_VERBS.list_in_place_only(make_set(only, role("b"))) == ("a",)


def test_a_set_without_a_template_has_no_roles():
    assert SET_VERBS.list_roles({"metadata": {"name": "x"}, "spec": {}}) == ()
