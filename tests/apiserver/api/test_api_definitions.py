"""A definition from its creation to its end, and the objects of its kind."""

import pytest
from api_builders import Bench

from kohort.apiserver.api.admission import NoAdmission, Review
from kohort.apiserver.api.requests import ListOptions, Target
from kohort.cluster.errors import Forbidden, NotFound
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Kind, Object, is_true

WIDGET = Kind("example.com", "v1", "Widget", "widgets", namespaced=False)
NAME = WIDGET.group_resource


def definition() -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True}
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    return {
        "metadata": {"name": NAME},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": names,
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def widget(name: str, *finalizers: str) -> Object:
    return {"metadata": {"name": name, "finalizers": list(finalizers)}}


def exists(bench: Bench) -> bool:
    return bench.api.store.find(DEFINITION.group_resource, ("", NAME)) is not None


class Guard(NoAdmission):
    """Lets no widget of one name go."""

    def concerns(self, operation: str, target: Target) -> bool:
        return operation == "DELETE" and target.resource.kind == WIDGET

    async def validate(self, review: Review) -> None:
        if review.target.name == "precious":
            raise Forbidden("it is precious")


async def test_a_definition_is_served_as_soon_as_it_is_answered(bench: Bench):
    await bench.create(DEFINITION, definition())
    assert is_true(bench.read(DEFINITION, NAME), "Established")
    assert (await bench.create(WIDGET, widget("a")))["kind"] == "Widget"


async def test_a_definition_takes_its_objects_with_it(bench: Bench):
    await bench.create(DEFINITION, definition())
    await bench.create(WIDGET, widget("a"))
    await bench.delete(DEFINITION, NAME)
    assert not exists(bench)
    with pytest.raises(NotFound):
        bench.api.target(WIDGET)


async def test_a_watch_ends_with_its_kind_after_the_last_event(bench: Bench):
    """Otherwise a client waits for ever for objects of a kind that is not there."""
    await bench.create(DEFINITION, definition())
    await bench.create(WIDGET, widget("a"))
    target = bench.api.target(WIDGET)
    watch = bench.api.watch(target, ListOptions(), initial=True, bookmarks=False)
    listeners = len(bench.api.registry.listeners)
    await bench.delete(DEFINITION, NAME)
    assert [event.type for event in await watch.batch()] == ["ADDED", "DELETED"]
    assert watch.is_closed
    assert len(bench.api.registry.listeners) == listeners - 1


async def test_a_definition_waits_for_its_last_object(bench: Bench):
    await bench.create(DEFINITION, definition())
    await bench.create(WIDGET, widget("a", "example.com/hold"))
    await bench.delete(DEFINITION, NAME)
    assert exists(bench)
    await bench.merge(WIDGET, "a", {"metadata": {"finalizers": None}})
    assert not exists(bench)


async def test_nothing_is_made_of_a_kind_that_is_going(bench: Bench):
    await bench.create(DEFINITION, definition())
    await bench.create(WIDGET, widget("a", "example.com/hold"))
    await bench.delete(DEFINITION, NAME)
    with pytest.raises(Forbidden) as refused:
        await bench.create(WIDGET, widget("b"))
    assert refused.value.message == (
        'widgets.example.com "b" is forbidden: '
        "create not allowed while custom resource definition is terminating"
    )


async def test_an_object_that_may_not_go_holds_its_definition_and_nothing_else(bench: Bench):
    await bench.create(DEFINITION, definition())
    for body in (widget("precious"), widget("b", "example.com/hold")):
        await bench.create(WIDGET, body)
    bench.api.context.admission = Guard()
    await bench.delete(DEFINITION, NAME)
    await bench.merge(WIDGET, "b", {"metadata": {"finalizers": None}})
    assert exists(bench)
    with pytest.raises(NotFound):
        bench.read(WIDGET, "b")


async def test_a_definition_that_a_crash_left_half_deleted_goes_after_a_restart(bench: Bench):
    await bench.create(DEFINITION, definition())
    await bench.create(WIDGET, widget("precious"))
    bench.api.context.admission = Guard()
    await bench.delete(DEFINITION, NAME)
    bench.api.context.admission = NoAdmission()
    await bench.api.resume()
    assert not exists(bench)
