"""One object of the wrong shape costs its own row, whichever API it belongs to."""

from functools import reduce
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scenes import NOW

from kohort.apis.api import DEFAULTS, Api
from kohort.apis.served import BUILT_INS
from kohort.cli.render.explanations import write_explanation, write_history
from kohort.cli.render.tables import write_table
from kohort.cli.render.trees import write_tree
from kohort.cli.render.values import write_value
from kohort.cluster.objects import Object, name_of
from kohort.views.explain import explain, suggest_commands
from kohort.views.health import judge
from kohort.views.picture import Picture, take_picture
from kohort.views.rollouts import make_history
from kohort.views.samples import gather
from kohort.views.table import make_row, make_table
from kohort.views.tree import make_tree
from spoiled_objects import VALUES, Place, list_places, spoil

EXAMPLES = Path(__file__).parents[2] / "examples"
APIS = {(a.kind.api_version, a.kind.name): a for apis in BUILT_INS.values() for a in apis}
POD = {
    "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "A", "value": "b"}]}]},
}
COMPONENTS = {"components": [{"name": "a", "size": 2, "template": POD}]}
ROLES = [
    {"name": "a", "customComponentsPattern": COMPONENTS},
    {"name": "b", "leaderWorkerPattern": {"template": POD, "leaderTemplatePatch": POD}},
    {"name": "c", "standalonePattern": {"templateRef": {"name": "t", "patch": POD}}},
]
GROUP = {"roles": ROLES, "roleTemplates": [{"name": "t", "template": POD}]}
MORE = [
    ("RoleBasedGroup", GROUP),
    ("RoleBasedGroupSet", {"groupTemplate": {"spec": GROUP}}),
    ("RoleInstanceSet", {"roleInstanceTemplate": COMPONENTS}),
    ("RoleInstance", COMPONENTS),
    ("RoleBasedGroupWarmup", {}),
    ("BaseModel", {"storage": {"storageUri": "hf://a/b"}}),
    ("AcceleratorClass", {}),
]
STATUS = {"conditions": [{"type": "Ready", "status": "True"}], "observedGeneration": 1}


def find_api(kind: str) -> Api:
    return next(api for (_, name), api in APIS.items() if name == kind)


def store(api: Api, obj: Object) -> Object:
    """The object as an API server stores it, with a status."""
    head = {"namespace": "lab", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    metadata = {**head, "generation": 1, **obj["metadata"]}
    named = {"apiVersion": api.kind.api_version, "kind": api.kind.name}
    whole = {**obj, **named, "metadata": metadata, "status": STATUS}
    # No part of it is shared with another part, so one can be spoiled by itself.
    return orjson.loads(orjson.dumps(whole))


def list_good() -> list[tuple[Api, Object]]:
    """An object of each kind or more, and what its API is."""
    texts = [path.read_text() for path in sorted(EXAMPLES.glob("*.yaml"))]
    listed = [obj for text in texts for obj in yaml.safe_load_all(text) if obj]
    found = [(APIS.get((obj["apiVersion"], obj["kind"])), obj) for obj in listed]
    written = [(find_api(kind), {"metadata": {"name": "x"}, "spec": spec}) for kind, spec in MORE]
    return [(api, store(api, obj)) for api, obj in (*found, *written) if api is not None]


GOOD = list_good()
IDS = [f"{api.short_name} {name_of(obj)}" for api, obj in GOOD]


def name_place(place: Place) -> str:
    return reduce(lambda a, b: f"{a}[{b}]" if isinstance(b, int) else f"{a}.{b}", place, "")[1:]


def take(api: Api, obj: Object) -> list[Picture]:
    """The pictures of an object and of a good one that is listed after it."""
    good = next(good for other, good in GOOD if other is api)
    after = {**good, "metadata": {**good["metadata"], "name": "zebra"}}
    samples = gather(api, [orjson.dumps(obj), orjson.dumps(after)], {})
    return [take_picture(api, sample, NOW) for sample in samples]


def show_all_views(picture: Picture) -> None:
    told = explain(picture)
    tree = make_tree(picture, suggest_commands(picture, judge(picture)), unfold=True)
    for view in (make_row(picture), told, tree, make_history(picture)):
        assert write_value(view, "json")
    assert write_explanation(told, NOW) and write_tree(tree, NOW)
    write_history(make_history(picture), NOW)


@pytest.mark.parametrize(("api", "good"), GOOD, ids=IDS)
def test_a_malformed_object_of_any_api_costs_its_own_row(api: Api, good: Object):
    places = [place for place in list_places(good) if place[0] in ("spec", "status")]

    @settings(max_examples=25)
    @given(st.sampled_from(places), VALUES)
    def check_views(place: Place, value: Any) -> None:
        pictures = take(api, spoil(good, place, value))
        show_all_views(pictures[0])
        lines = write_table(make_table(pictures), NOW)
        assert len(lines) == 3
        assert any("zebra" in line for line in lines)

    check_views()


COMPONENT: Place = ("components", 0, "template")
TEMPLATES: list[tuple[str, Place]] = [
    ("RoleInstance", ("spec", *COMPONENT)),
    ("RoleInstanceSet", ("spec", "roleInstanceTemplate", *COMPONENT)),
    ("RoleBasedGroup", ("spec", "roles", 0, "customComponentsPattern", *COMPONENT)),
    ("RoleBasedGroup", ("spec", "roles", 1, "leaderWorkerPattern", "leaderTemplatePatch")),
    ("RoleBasedGroup", ("spec", "roles", 2, "standalonePattern", "templateRef", "patch")),
    (
        "RoleBasedGroupSet",
        ("spec", "groupTemplate", "spec", "roles", 0, "customComponentsPattern", *COMPONENT),
    ),
]
WRONG: list[tuple[Place, Any, str]] = [
    ((), [1], " must be a mapping, not a list"),
    (("spec",), [1], ".spec must be a mapping, not a list"),
    (("spec", "containers", 0), 5, ".spec.containers[0] must be a mapping, not 5"),
    (("spec", "containers", 0, "env"), 5, ".spec.containers[0].env must be a list, not 5"),
    (("metadata", "annotations"), ["a"], ".metadata.annotations must be a mapping, not a list"),
    (("metadata", "annotations", "c"), 5, ".metadata.annotations.c must be a text, not 5"),
]


@pytest.mark.parametrize(("inner", "value", "words"), WRONG)
@pytest.mark.parametrize(("kind", "place"), TEMPLATES)
def test_a_template_of_which_the_definition_says_nothing_is_named(kind, place, inner, value, words):
    """The API server stores anything there, as upstream's definitions have it."""
    api = find_api(kind)
    good = store(api, {"metadata": {"name": "x"}, "spec": dict(MORE)[kind]})
    bad = spoil(good, (*place, *inner), value)
    health = make_row(take(api, bad)[0]).health
    assert (health.word, health.reason) == ("stalled", "Malformed")
    assert health.message == f"{name_place(place)}{words}: mend the object, or delete it"
    hooks = [hook for other in APIS.values() for hook in other.webhooks if hook.kind == api.kind]
    results = [(hook.mutates, hook.handle(bad, None, DEFAULTS)) for hook in hooks]
    refusals = [result.refusal for mutates, result in results if not mutates]
    # As upstream, no webhook is asked about RoleInstances.
    assert refusals == [f"{name_place(place)}{words}"] * (kind != "RoleInstance")


@pytest.mark.parametrize("amount", ["9" * 5000, "1e1.5"])
@pytest.mark.parametrize(("api", "good"), GOOD, ids=IDS)
def test_an_amount_that_only_the_pattern_lets_pass_is_named(api, good, amount):
    """The API server stores it, since it checks no more than the pattern of a definition."""
    places = [place for place in list_places(good) if place[-2:-1] in (("limits",), ("requests",))]
    for place in places:
        health = make_row(take(api, spoil(good, place, amount))[0]).health
        assert (health.word, health.reason) == ("stalled", "Malformed")
        assert health.message.startswith(f"{name_place(place)} must be a quantity such as 500m")


@pytest.mark.parametrize("key", ["$patch", "$setElementOrder/containers", "$retainKeys"])
def test_words_that_say_how_a_patch_is_merged_are_no_fields(key: str):
    api = find_api("RoleBasedGroup")
    good = store(api, {"metadata": {"name": "x"}, "spec": GROUP})
    place = ("spec", "roles", 1, "leaderWorkerPattern", "leaderTemplatePatch", "spec", key)
    assert api.find_misfit(spoil(good, place, "replace")) == ""
