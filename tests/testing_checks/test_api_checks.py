"""``check_api`` passes a new API, and says what is wrong with a broken one."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from gadget_api import GADGETS, make_gadget
from kohort.apis.api import Api
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cli.plugins.skeletons import write_skeleton
from kohort.cluster.objects import Object
from kohort.testing import check_api

SAMPLE = {"metadata": {"name": "hello"}, "spec": {"message": "hello"}}
numbers = iter(range(10**6))


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The module of a new API, as ``kohort plugins new api`` writes it."""
    folder = tmp_path_factory.mktemp("api")
    write_skeleton("api", "tide", folder)
    sys.path.insert(0, str(folder))
    import tide

    yield tide
    sys.path.remove(str(folder))
    del sys.modules["tide"]


def without_owner(actions: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(replace(a, obj=_strip(a.obj)) for a in actions)


def _strip(obj: Object) -> Object:
    return {**obj, "metadata": {k: v for k, v in obj["metadata"].items() if "owner" not in k}}


def restless(snapshot, *rest) -> Object:
    return {"configMap": f"{(snapshot.root.get('status') or {}).get('configMap')}x"}


def fail(*_: Any) -> Any:
    raise ZeroDivisionError


def break_api(api: Api) -> dict[str, Api]:
    """Sentences, each with an API that has that fault."""
    render = api.render

    def edit(snapshot) -> Any:
        snapshot.root["spec"]["message"] = "edited"
        return api.read(snapshot)

    return {
        "it may not create ConfigMap: add Grant": replace(api, writes=()),
        "it makes ConfigMap and does not watch it": replace(api, watched=()),
        "ConfigMap hello has not the object as its controller": replace(
            api, render=lambda *a: without_owner(render(*a))
        ),
        "the definition has no status.other": replace(api, write_status=lambda *a: {"other": 1}),
        "status.configMap does not fit": replace(api, write_status=lambda *a: {"configMap": 1}),
        "it writes two statuses": replace(
            api, write_status=lambda *a: {"configMap": str(next(numbers))}
        ),
        "its status does not come to rest: configMap": replace(api, write_status=restless),
        "it changed the object that it was given": replace(api, read=edit),
        "it raised ZeroDivisionError": replace(api, read=fail),
        "has the short name lws already": replace(api, short_name="lws"),
        "another API serves LeaderWorkerSet": replace(api, kind=LEADER_WORKER_SET.kind),
        "the first definition is of LeaderWorkerSet": replace(
            api, definitions=LEADER_WORKER_SET.definitions
        ),
    }


@pytest.mark.parametrize("place", range(12))
def test_a_broken_api_is_told_in_a_sentence(module: ModuleType, place: int):
    sentence, api = list(break_api(module.API).items())[place]
    found = check_api(api, SAMPLE)
    assert any(sentence in fault for fault in found), found


def test_an_object_that_does_not_fit_is_told(module: ModuleType):
    [fault] = check_api(module.API, {**SAMPLE, "spec": {"message": 7}})
    assert fault.startswith("the object does not fit the definition: spec.message")


def test_what_is_no_api_is_refused():
    assert check_api(1, SAMPLE) == ["it must be an Api, not int"]  # type: ignore[arg-type]


def test_apis_that_work_pass(module: ModuleType):
    assert check_api(module.API, SAMPLE) == []
    assert check_api(GADGETS, make_gadget()) == []
