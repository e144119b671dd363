"""Lists, pages, selectors and watches."""

import orjson
import pytest
from api_builders import Bench, config_map, pod
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.api.reads import watches as watching
from kohort.apiserver.api.requests import ListOptions
from kohort.cluster.errors import BadRequest, WatchExpired
from kohort.cluster.kinds import CONFIG_MAP, POD
from kohort.cluster.selectors import (
    LabelSelector,
    Requirement,
    parse_field_selector,
    parse_label_selector,
)


async def fill(bench: Bench, count: int) -> None:
    for index in range(count):
        body = config_map(f"c{index}")
        body["metadata"]["labels"] = {"even": str(index % 2 == 0).lower()}
        await bench.create(CONFIG_MAP, body)


class TestPages:
    async def test_pages_join_to_the_whole_list(self, bench: Bench):
        await fill(bench, 7)
        page, items = bench.list(CONFIG_MAP, limit=3)
        assert (len(items), page.remaining) == (3, 4)
        page, more = bench.list(CONFIG_MAP, limit=10, continue_from=page.continue_from)
        assert [i["metadata"]["name"] for i in items + more] == [f"c{i}" for i in range(7)]
        assert not page.continue_from

    async def test_a_continued_list_shows_the_state_of_its_first_page(self, bench: Bench):
        await fill(bench, 5)
        page, _ = bench.list(CONFIG_MAP, limit=2)
        await bench.delete(CONFIG_MAP, "c4")
        await bench.create(CONFIG_MAP, config_map("c9"))
        _, rest = bench.list(CONFIG_MAP, continue_from=page.continue_from)
        assert [i["metadata"]["name"] for i in rest] == ["c2", "c3", "c4"]

    async def test_items_of_a_built_in_list_do_not_repeat_their_kind(self, bench: Bench):
        await fill(bench, 1)
        _, items = bench.list(CONFIG_MAP)
        assert list(items[0]) == ["metadata"]

    async def test_a_token_that_is_none_is_refused(self, bench: Bench):
        with pytest.raises(BadRequest, match="continue key is not valid"):
            bench.list(CONFIG_MAP, limit=1, continue_from="abc")


class TestSelectors:
    async def test_labels_choose(self, bench: Bench):
        await fill(bench, 4)
        _, items = bench.list(CONFIG_MAP, labels=parse_label_selector("even in (true)"))
        assert [i["metadata"]["name"] for i in items] == ["c0", "c2"]

    async def test_fields_choose(self, bench: Bench):
        await bench.create(POD, pod("p", nodeName="n1"))
        await bench.create(POD, pod("q"))
        _, items = bench.list(POD, fields=parse_field_selector("spec.nodeName=n1"))
        assert [i["metadata"]["name"] for i in items] == ["p"]

    async def test_a_field_that_cannot_be_selected_is_refused(self, bench: Bench):
        with pytest.raises(BadRequest, match=r"field label not supported: spec\.x"):
            bench.list(POD, fields=parse_field_selector("spec.x=1"))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a b", "unable to parse requirement: found 'b', expected: in, notin"),
            ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            ("a in b", r"unable to parse requirement: found 'b' expected: '\('"),
            ("a=b,", "found '', expected: identifier after ','"),
            (",a", "found ',', expected: !, identifier, or 'end of string'"),
            ("-a", "name part must consist of alphanumeric characters"),
        ],
    )
    def test_a_bad_selector_is_explained(self, text, message):
        with pytest.raises(BadRequest, match=message):
            parse_label_selector(text)


KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(["1", "2", "3", ""])
LABELS = st.dictionaries(KEYS, VALUES)


@st.composite
def clauses(draw):
    key, values = draw(KEYS), tuple(sorted(set(draw(st.lists(VALUES, min_size=1, max_size=3)))))
    operator = draw(st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]))
    text = {
        "In": f"{key} in ({','.join(values)})",
        "NotIn": f"{key} notin ({','.join(values)})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
    }[operator]
    return text, (key, operator, values)


@given(st.lists(clauses(), min_size=1, max_size=3), LABELS)
def test_selectors_agree_with_a_naive_model(written, labels):
    def holds(key, operator, values):
        if operator == "In":
            return key in labels and labels[key] in values
        if operator == "NotIn":
            return key not in labels or labels[key] not in values
        return (key in labels) == (operator == "Exists")

    selector = parse_label_selector(",".join(text for text, _ in written))
    assert selector.matches(labels) == all(holds(*clause) for _, clause in written)


@given(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=3), LABELS)
def test_equality_is_membership_in_one(pairs, labels):
    selector = parse_label_selector(",".join(f"{key}={value}" for key, value in pairs))
    same = LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in pairs))
    assert selector.matches(labels) == same.matches(labels)


class TestWatch:
    def open(self, bench: Bench, **options):
        target = bench.api.target(CONFIG_MAP, "lab")
        initial = "resource_version" not in options
        return bench.api.watch(target, ListOptions(**options), initial=initial, bookmarks=True)

    async def test_it_begins_with_what_exists_and_a_bookmark(self, bench: Bench):
        await fill(bench, 2)
        events = await self.open(bench).batch()
        assert [e.type for e in events] == ["ADDED", "ADDED", "BOOKMARK"]
        notes = orjson.loads(events[-1].raw)["metadata"]["annotations"]
        assert notes == {"k8s.io/initial-events-end": "true"}

    async def test_it_goes_on_from_a_version(self, bench: Bench):
        await fill(bench, 1)
        page, _ = bench.list(CONFIG_MAP)
        await bench.merge(CONFIG_MAP, "c0", {"data": {"x": "1"}})
        watch = self.open(bench, resource_version=page.resource_version)
        assert [e.type for e in await watch.batch()] == ["MODIFIED"]

    async def test_an_object_that_stops_matching_is_gone_for_its_watcher(self, bench: Bench):
        await fill(bench, 1)
        page, _ = bench.list(CONFIG_MAP)
        chosen = parse_label_selector("even=true")
        watch = self.open(bench, labels=chosen, resource_version=page.resource_version)
        await bench.merge(CONFIG_MAP, "c0", {"metadata": {"labels": {"even": "no"}}})
        await bench.merge(CONFIG_MAP, "c0", {"metadata": {"labels": {"even": "true"}}})
        assert [e.type for e in await watch.batch()] == ["DELETED", "ADDED"]

    async def test_who_resumes_at_the_end_of_a_match_is_not_told_of_it_again(self, bench: Bench):
        await fill(bench, 1)
        page, _ = bench.list(CONFIG_MAP)
        chosen = parse_label_selector("even=true")
        watch = self.open(bench, labels=chosen, resource_version=page.resource_version)
        await bench.merge(CONFIG_MAP, "c0", {"metadata": {"labels": {"even": "no"}}})
        (left,) = await watch.batch()
        version = orjson.loads(left.raw)["metadata"]["resourceVersion"]
        resumed = self.open(bench, labels=chosen, resource_version=version)
        assert not resumed.has_events

    async def test_a_version_that_is_forgotten_is_expired(self, bench: Bench):
        bench.api.store.bucket("configmaps").history_max = 1
        await fill(bench, 3)
        with pytest.raises(WatchExpired, match="too old resource version: 2"):
            self.open(bench, resource_version="2")

    async def test_a_version_that_is_still_to_come_is_expired(self, bench: Bench):
        """A client resumes there whose server began anew in memory."""
        await fill(bench, 1)
        ahead = bench.api.store.revision + 1
        with pytest.raises(WatchExpired, match=f"unknown resource version: {ahead}"):
            self.open(bench, resource_version=str(ahead))
        assert not self.open(bench, resource_version=str(ahead - 1)).has_events

    async def test_a_watcher_that_falls_behind_is_told_once_and_left(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(watching, "QUEUE_EVENTS_MAX", 2)
        watch = self.open(bench, resource_version="2")
        await fill(bench, 5)
        (event,) = await watch.batch()
        assert orjson.loads(event.raw)["reason"] == "Expired"
        watch.close()
        assert not bench.api.store.bucket("configmaps").subscribers
