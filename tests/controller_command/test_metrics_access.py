"""Who may read metrics: processes of this machine, or tokens that the API server lets pass."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest
from process_world import ADDRESS, make_api, running, until

from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import Forbidden, NotFound, Unavailable
from kohort.controller.certificates.issue import renew_material
from kohort.controller.certificates.live import LiveContext
from kohort.controller.process.access import AccessReviews
from kohort.controller.process.configuration import BadConfiguration, Configuration, place_pages
from kohort.controller.process.pages import Guard, Page, PageServer

READER, STRANGER = "token-of-reader", "token-of-stranger"
PAGES = {"/metrics": lambda: Page("kohort_units 1\n")}


class SetTime:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def elapsed(self) -> float:
        return self.seconds


class Reviewer(InProcessCluster):
    """An API server that knows two accounts, of which one may read metrics."""

    def __init__(self) -> None:
        super().__init__(make_api())
        self.asked: list[Any] = []
        self.fault: Exception | None = None
        self.is_denied = False  # one authorizer says no, whatever the others say

    async def create(self, kind: Any, namespace: str, obj: Any) -> Any:
        self.asked.append(obj)
        if self.fault is not None:
            raise self.fault
        if kind.name == "TokenReview":
            name = obj["spec"]["token"].removeprefix("token-of-")
            user = {
                "username": name,
                "uid": f"u-{name}",
                "groups": ["system:authenticated"],
                "extra": {"example.com/team": ["chat"]},
            }
            is_known = obj["spec"]["token"] in (READER, STRANGER)
            return {"status": {"authenticated": is_known, "user": user if is_known else {}}}
        allowed = obj["spec"]["user"] == "reader"
        return {"status": {"allowed": allowed, "denied": self.is_denied}}


class Place:
    """A page behind a guard, on a real socket with TLS."""

    def __init__(self, cluster: InProcessCluster) -> None:
        self.cluster = cluster
        self.time = SetTime()
        self.pages = PageServer()
        self.reviews = AccessReviews(cluster, self.time)  # type: ignore[arg-type]

    async def start(self) -> None:
        material = renew_material(None, ["127.0.0.1"], datetime.now(UTC))
        live = LiveContext()
        live.show(material.certificate, material.key)
        await self.pages.start(ADDRESS, PAGES, Guard(self.reviews.judge, live.context))

    async def get(self, token: str = "", path: str = "/metrics") -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = f"https://127.0.0.1:{self.pages.ports[ADDRESS]}{path}"
        session = aiohttp.ClientSession()
        async with session, session.get(url, headers=headers, ssl=False) as answer:
            return answer.status, await answer.text()


@asynccontextmanager
async def opened(cluster: InProcessCluster) -> AsyncIterator[Place]:
    place = Place(cluster)
    await place.start()
    try:
        yield place
    finally:
        await place.pages.stop()


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with opened(Reviewer()) as found:
        yield found


async def test_a_token_that_may_get_metrics_reads_them(place):
    assert await place.get(READER) == (200, "kohort_units 1\n")
    assert place.cluster.asked[1]["spec"] == {
        "user": "reader",
        "uid": "u-reader",
        "groups": ["system:authenticated"],
        "extra": {"example.com/team": ["chat"]},
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
    }


async def test_without_a_token_the_api_server_is_not_asked_and_nothing_is_shown(place):
    status, text = await place.get()
    assert (status, place.cluster.asked) == (401, [])
    assert "bearer token is needed" in text


async def test_an_unknown_token_is_refused(place):
    assert await place.get("forged") == (401, "the API server does not know this token\n")


async def test_a_user_who_may_not_is_named(place):
    assert await place.get(STRANGER) == (403, "user 'stranger' may not get /metrics\n")


async def test_a_user_who_is_denied_reads_nothing_though_another_rule_allows_it(place):
    place.cluster.is_denied = True
    assert await place.get(READER) == (403, "user 'reader' may not get /metrics\n")


async def test_a_permission_for_one_page_is_none_for_another(place):
    await place.get(READER)
    assert (await place.get(READER, "/elsewhere"))[0] == 404
    assert place.cluster.asked[-1]["spec"]["nonResourceAttributes"]["path"] == "/elsewhere"


async def test_a_scrape_costs_no_request_while_the_answer_is_fresh(place):
    for _ in range(5):
        assert (await place.get(READER))[0] == 200
    assert len(place.cluster.asked) == 2
    place.time.seconds += 61
    assert (await place.get(READER))[0] == 200
    assert len(place.cluster.asked) == 4


async def test_a_refusal_is_forgotten_sooner(place):
    await place.get(STRANGER)
    place.time.seconds += 11
    await place.get(STRANGER)
    assert len(place.cluster.asked) == 4


async def test_unknown_tokens_do_not_spend_our_requests(place):
    codes = [(await place.get(f"forged-{number}"))[0] for number in range(40)]
    assert codes == [401] * 10 + [429] * 30
    assert len(place.cluster.asked) == 10
    place.time.seconds += 2
    assert (await place.get(READER))[0] == 200


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Forbidden("no"), "bind lws-proxy-role to its account"),
        (Unavailable("no"), "the API server does not answer"),
    ],
)
async def test_while_the_api_server_is_away_metrics_are_refused(place, fault, why):
    place.cluster.fault = fault
    status, text = await place.get(READER)
    assert status == 503 and why in text
    place.cluster.fault = None
    assert (await place.get(READER))[0] == 200


async def test_without_token_reviews_metrics_are_refused_to_all(place):
    place.cluster.fault = NotFound("the server could not find the requested resource")
    status, text = await place.get(READER)
    assert status == 503
    assert "does not serve TokenReview" in text


async def test_the_embedded_cluster_lets_no_forged_token_pass():
    async with opened(InProcessCluster(make_api())) as place:
        assert (await place.get("forged"))[0] in (401, 503)


async def test_an_operator_guards_metrics_that_other_machines_reach_and_not_its_health():
    everywhere = "0.0.0.0:0"
    async with running(make_api(), "a", metrics_address=everywhere) as one:
        await until(lambda: everywhere in one.process.pages.ports, one.task)
        port = one.process.pages.ports[everywhere]
        session = aiohttp.ClientSession()
        async with session:
            async with session.get(f"https://127.0.0.1:{port}/metrics", ssl=False) as answer:
                assert answer.status == 401
            with pytest.raises(aiohttp.ClientError):
                await session.get(f"http://127.0.0.1:{port}/metrics")
        assert (await one.read("/healthz"))[0] == 200


def test_outside_of_a_cluster_pages_are_on_loopback_unless_told_otherwise():
    outside = place_pages(Configuration(), is_in_cluster=False)
    assert (outside.metrics_address, outside.health_address) == ("127.0.0.1:8443", "127.0.0.1:8081")
    told = place_pages(Configuration(metrics_address=":1"), is_in_cluster=False)
    assert (told.metrics_address, told.health_address) == (":1", "127.0.0.1:8081")


def test_in_a_cluster_kubelets_and_scrapers_reach_the_pages():
    inside = place_pages(Configuration(), is_in_cluster=True)
    assert (inside.metrics_address, inside.health_address) == (":8443", ":8081")


def test_metrics_of_other_machines_share_no_address_with_probes():
    shared = Configuration(metrics_address=":8081", health_address=":8081")
    with pytest.raises(BadConfiguration, match="cannot share :8081"):
        place_pages(shared, is_in_cluster=True)
    place_pages(
        Configuration(metrics_address="127.0.0.1:1", health_address="127.0.0.1:1"),
        is_in_cluster=False,
    )
