"""A stateful machine over the API: whatever clients do in whatever order, the model agrees."""

import asyncio

from api_builders import Bench, config_map
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kohort.apiserver.api.requests import ListOptions
from kohort.cluster.errors import AlreadyExists, Conflict, NotFound, WatchExpired
from kohort.cluster.kinds import CONFIG_MAP

NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(["1", "2", "3"])


class ApiMachine(RuleBasedStateMachine):
    """Clients create, update with old and new versions, patch, hold, release and delete."""

    @initialize()
    def start(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.bench = self.run(Bench().start())
        self.model: dict[str, dict[str, str]] = {}
        self.held: set[str] = set()
        self.leaving: set[str] = set()
        self.seen: dict[str, dict] = {}
        self.versions: list[int] = []
        self.watch = self.bench.api.watch(
            self.bench.api.target(CONFIG_MAP, "lab"), ListOptions(), initial=True, bookmarks=False
        )
        self.mirror: dict[str, dict] = {}

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    @rule(name=NAMES, value=VALUES, held=st.booleans())
    def create(self, name, value, held) -> None:
        body = config_map(name, x=value)
        if held:
            body["metadata"]["finalizers"] = ["kohort.dev/hold"]
        try:
            self.seen[name] = self.run(self.bench.create(CONFIG_MAP, body))
            assert name not in self.model
            self.model[name] = {"x": value}
            (self.held.add if held else self.held.discard)(name)
        except AlreadyExists:
            assert name in self.model

    @rule(name=NAMES, value=VALUES)
    def update_from_what_was_seen(self, name, value) -> None:
        if name not in self.seen:
            return
        body = {**self.seen[name], "data": {"x": value}}
        try:
            current = self.bench.read(CONFIG_MAP, name)
            fresh = current["metadata"] == self.seen[name]["metadata"]
            self.seen[name] = self.run(self.bench.update(CONFIG_MAP, body))
            assert fresh, "an update from an old version was not refused"
            self.model[name] = {"x": value}
        except NotFound:
            assert name not in self.model
        except Conflict:
            assert not fresh

    @rule(name=NAMES, key=VALUES, value=VALUES)
    def patch(self, name, key, value) -> None:
        try:
            self.run(self.bench.merge(CONFIG_MAP, name, {"data": {key: value}}))
            self.model[name] = {**self.model[name], key: value}
        except NotFound:
            assert name not in self.model

    @rule(name=NAMES)
    def delete(self, name) -> None:
        try:
            self.run(self.bench.delete(CONFIG_MAP, name))
        except NotFound:
            assert name not in self.model
            return
        if name in self.held:
            self.leaving.add(name)
        else:
            del self.model[name]

    @rule(name=NAMES)
    def release(self, name) -> None:
        if name not in self.model:
            return
        self.run(self.bench.merge(CONFIG_MAP, name, {"metadata": {"finalizers": None}}))
        self.held.discard(name)
        if name in self.leaving:
            self.leaving.discard(name)
            del self.model[name]

    @invariant()
    def the_list_is_the_model(self) -> None:
        _, items = self.bench.list(CONFIG_MAP)
        assert {i["metadata"]["name"]: i["data"] for i in items} == self.model

    @invariant()
    def the_watch_tells_the_same_story(self) -> None:
        while self.watch._queue:
            event = self.watch._queue.popleft()
            assert event.entry is not None
            self.versions.append(event.entry.rv)
            body = event.entry.decode()
            if event.type == "DELETED":
                del self.mirror[event.entry.name]
            else:
                self.mirror[event.entry.name] = body["data"]
        assert self.mirror == self.model
        assert self.versions == sorted(set(self.versions))

        self.check_resumption()

    def check_resumption(self) -> None:
        for version in self.versions[-3:]:
            try:
                events = self.bench.api.store.since("configmaps", version)
            except WatchExpired:
                continue
            assert [e.rv for e in events] == [v for v in self.versions if v > version]

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.watch.close()
            self.loop.close()


TestApiMachine = ApiMachine.TestCase
TestApiMachine.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
