"""What a user's verb changes in a RoleBasedGroup, role by role."""

from typing import Any

from kohort.apis.rolebasedgroup.verbs import VERBS
from kohort.apis.user_edits import HELD, RESTARTED, restart_templates
from kohort.cluster.objects import Object, annotations_of


def template(image: str = "engine:1", **metadata: Any) -> Object:
    made: Object = {"spec": {"containers": [{"name": "engine", "image": image, "args": ["x"]}]}}
    return {**made, "metadata": metadata} if metadata else made


def make_group(*roles: Object, shared: Object | None = None) -> Object:
    spec: Object = {"roles": list(roles)}
    if shared:
        spec["roleTemplates"] = [{"name": "base", "template": shared}]
    return {"metadata": {"name": "x"}, "spec": spec}


def role(name: str, **pattern: Any) -> Object:
    return {"name": name, "standalonePattern": pattern or {"template": template()}}


def paused(group: Object) -> list[bool | None]:
    held = [r.get("rolloutStrategy", {}).get("rollingUpdate", {}) for r in group["spec"]["roles"]]
    return [rolling.get("paused") for rolling in held]


def refer(**patch: Any) -> Object:
    return {"templateRef": {"name": "base", **({"patch": patch} if patch else {})}}


class TestTemplates:
    def test_a_shared_template_is_changed_for_one_role_by_its_patch(self):
        env = [{"name": "engine", "env": [{"name": "A", "value": "1"}]}]
        decode = role("decode", **refer(spec={"containers": env}))
        group = make_group(role("prefill", **refer()), decode, shared=template())
        ((field, found),) = VERBS.list_templates(group, "decode").items()
        (container,) = found["spec"]["containers"]
        assert (container["image"], container["env"][0]["name"]) == ("engine:1", "A")
        wanted = {**found, "spec": {"containers": [{**container, "image": "engine:2"}]}}
        changed = VERBS.put_template(group, field, wanted)
        assert changed["spec"]["roles"][0] == group["spec"]["roles"][0]
        assert changed["spec"]["roleTemplates"] == group["spec"]["roleTemplates"]
        patch = changed["spec"]["roles"][1]["standalonePattern"]["templateRef"]["patch"]
        assert patch == {"spec": {"containers": [{**env[0], "image": "engine:2"}]}}

    def test_a_restart_of_a_role_stamps_its_patch_of_a_shared_template(self):
        group = make_group(role("a", **refer()), role("b", **refer()), shared=template())
        changed = restart_templates(VERBS, group, "now", "b")
        assert changed["spec"]["roles"][0] == group["spec"]["roles"][0]
        patch = changed["spec"]["roles"][1]["standalonePattern"]["templateRef"]["patch"]
        assert patch == {"metadata": {"annotations": {RESTARTED: "now"}}}

    def test_an_image_in_the_patch_of_leaders_is_found(self):
        pattern = {"template": template(), "leaderTemplatePatch": template("leader:1")}
        group = make_group({"name": "a", "leaderWorkerPattern": pattern}, role("b"))
        ((field, found),) = VERBS.list_patches(group, "a").items()
        assert found == template("leader:1")
        changed = VERBS.put_template(group, field, template("leader:2"))
        held = changed["spec"]["roles"][0]["leaderWorkerPattern"]
        assert held == {"template": template(), "leaderTemplatePatch": template("leader:2")}

    def test_one_component_is_changed_and_the_other_stays(self):
        listed = [{"name": name, "template": template()} for name in ("one", "two")]
        group = make_group({"name": "a", "customComponentsPattern": {"components": listed}})
        assert list(VERBS.list_templates(group, "a")) == ["a/one", "a/two"]
        changed = VERBS.put_template(group, "a/two", template("engine:2"))
        found = changed["spec"]["roles"][0]["customComponentsPattern"]["components"]
        assert [each["template"] for each in found] == [template(), template("engine:2")]


class TestPauses:
    def test_one_role_is_held_and_let_go(self):
        group = make_group(role("a"), role("b"))
        held = VERBS.hold(group, 0, "b")
        assert (paused(held), VERBS.list_held(held)) == ([None, True], ("b",))
        released = VERBS.release(held, "b")
        assert paused(released) == [None, False]
        assert HELD not in annotations_of(released)

    def test_what_a_user_paused_stays_so_when_all_is_resumed(self):
        own = {**role("a"), "rolloutStrategy": {"rollingUpdate": {"paused": True}}}
        held = VERBS.hold(VERBS.hold(make_group(own, role("b")), 0, "b"), 0, "")
        assert paused(held) == [True, True]
        assert paused(VERBS.release(held, "")) == [True, False]

    def test_a_pause_of_two_roles_ends_one_by_one(self):
        held = VERBS.hold(make_group(role("a"), role("b")), 0, "")
        half = VERBS.release(held, "a")
        assert VERBS.list_held(half) == ("b",)
        assert HELD in annotations_of(half)
        assert VERBS.list_held(VERBS.release(half, "")) == ()
