"""A verb of the page is carried out on the object that its plan was shown for, and on no other."""

from collections.abc import Callable
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest
from scenes import Scene

from kohort.cluster.errors import Conflict
from kohort.cluster.objects import Object
from kohort.cluster.port import Address
from kohort.dashboard.state import WorkloadId
from kohort.dashboard.writes import Writes

WORKLOAD = WorkloadId("leaderworkerset.leaderworkerset.x-k8s.io", "default", "llama")


class Store:
    """One object as the API server has it, and what was written to it."""

    def __init__(self, obj: Object, conflicts: int = 0) -> None:
        self.obj = obj
        self.written: list[Object] = []
        self._conflicts = conflicts

    async def read(self, _: Address) -> Object:
        return deepcopy(self.obj)

    async def update(self, _: Address, obj: Object) -> Object:
        if self._conflicts:
            self._conflicts -= 1
            raise Conflict("the object has been modified")
        self.written.append(obj)
        return obj


def prepare(change: Callable[[Object], Any], conflicts: int = 0) -> tuple[Writes, Store, Object]:
    """A page whose picture is older than the object, and the verb with the version of its plan."""
    picture = Scene().picture()
    fresh = deepcopy(picture.root)
    change(fresh["metadata"])
    store = Store(fresh, conflicts)
    answers: Any = SimpleNamespace(find=lambda _: SimpleNamespace(picture=picture))
    cluster: Any = store
    writes = Writes(answers, cluster, is_allowed=True)
    version = writes.plan(WORKLOAD, {"verb": "restart"}).version
    return writes, store, {"verb": "restart", "version": version}


async def test_a_status_that_was_written_meanwhile_is_no_conflict():
    writes, store, body = prepare(lambda metadata: metadata, conflicts=3)
    await writes.carry_out(WORKLOAD, body)
    assert len(store.written) == 1


@pytest.mark.parametrize("field", ["uid", "generation"])
async def test_what_was_edited_or_made_anew_since_the_plan_is_not_written(field: str):
    """The page may not have seen it yet, so the object itself is asked."""
    other = {"uid": "of-another-object", "generation": 99}[field]
    writes, store, body = prepare(lambda metadata: metadata.update({field: other}))
    with pytest.raises(Conflict, match="has changed since its plan was shown"):
        await writes.carry_out(WORKLOAD, body)
    assert store.written == []
