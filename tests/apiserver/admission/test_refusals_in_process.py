"""A webhook's refusal in the same process is the error that its code is over HTTP."""

from datetime import UTC, datetime
from random import Random

import pytest

from kohort.apiserver.admission.reviews import Denied
from kohort.apiserver.api.admission import NoAdmission, Review
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import Target
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import BadRequest, ClusterError, Forbidden, Invalid, Unavailable
from kohort.cluster.kinds import NAMESPACE
from kohort.cluster.objects import Object
from kohort.cluster.port import Address

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Refusing(NoAdmission):
    def __init__(self, code: int) -> None:
        self.status: Object = {"code": code, "message": "no", "reason": "Mine"}

    def concerns(self, operation: str, target: Target) -> bool:
        return True

    async def validate(self, review: Review) -> None:
        raise Denied("w", self.status)


@pytest.mark.parametrize(
    ("code", "kind"),
    [(403, Forbidden), (400, BadRequest), (422, Invalid), (503, Unavailable), (418, ClusterError)],
)
async def test_the_code_of_a_refusal_decides_its_class(code: int, kind: type[ClusterError]):
    api = ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1))
    cluster = InProcessCluster(api)
    await cluster.create(NAMESPACE, "", {"metadata": {"name": "a"}})
    api.context.admission = Refusing(code)
    place, body = Address(NAMESPACE, "", "a"), {"metadata": {"labels": {"a": "b"}}}
    asked = (
        lambda: cluster.create(NAMESPACE, "", {"metadata": {"name": "b"}}),
        lambda: cluster.dry_run_create(NAMESPACE, "", {"metadata": {"name": "b"}}),
        lambda: cluster.patch(place, body),
        lambda: cluster.delete(place),
    )
    for ask in asked:
        with pytest.raises(ClusterError, match="denied the request: no") as error:
            await ask()
        found = error.value
        assert (type(found), found.code, found.reason) == (kind, code, "Mine")
