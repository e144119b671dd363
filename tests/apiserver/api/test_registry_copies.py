"""The copy of a registry: it serves the same kinds, and what is served later is its own."""

from dataclasses import replace

from kohort.apiserver.api.registry import Registry
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.resources.resource import Resource
from kohort.cluster import kinds
from kohort.cluster.objects import Kind


def custom(name: str) -> Resource:
    """A kind like a built-in one, under a name of its own."""
    plural = f"{name.lower()}s"
    kind = Kind("example.com", "v1", name, plural, namespaced=True)
    like = next(r for r in builtin_resources() if r.kind == kinds.CONFIG_MAP)
    return replace(like, kind=kind)


WIDGET, GADGET = custom("Widget"), custom("Gadget")


def make_registry() -> Registry:
    registry = Registry(builtin_resources())
    registry.serve("widgets.example.com", (WIDGET,))
    return registry


def test_a_copy_serves_the_same_kinds_in_the_same_order_and_the_same_generation():
    registry = make_registry()
    copy = registry.copy()
    assert copy.resources() == registry.resources()
    assert WIDGET in copy.resources()
    assert copy.generation == registry.generation == 1


def test_a_copy_and_its_original_serve_later_definitions_alone():
    registry = make_registry()
    copy = registry.copy()
    copy.serve("gadgets.example.com", (GADGET,))
    assert GADGET in copy.resources()
    assert WIDGET in copy.resources()
    assert GADGET not in registry.resources()
    registry.serve("widgets.example.com", ())
    assert WIDGET not in registry.resources()
    assert WIDGET in copy.resources()
    copy.serve("gadgets.example.com", ())
    assert WIDGET in copy.resources()


def test_the_listeners_of_a_registry_hear_nothing_of_its_copies():
    registry, told = make_registry(), []
    registry.listeners.append(lambda: told.append("original"))
    copy = registry.copy()
    copy.listeners.append(lambda: told.append("copy"))
    copy.serve("gadgets.example.com", (GADGET,))
    assert told == ["copy"]
