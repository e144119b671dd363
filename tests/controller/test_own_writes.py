"""A key waits until the caches have seen what it wrote."""

import orjson

from kohort.cluster.objects import Kind
from kohort.cluster.port import Selection
from kohort.controller.caches.cache import CacheWriter
from kohort.controller.caches.watcher import Gone, Init, Mark, Metadata, Put, Ready
from kohort.controller.caches.watermarks import Watermarks

POD = Kind("", "v1", "Pod", "pods")
NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
KEY = ("lab", "a")


def make(kind: Kind = POD) -> CacheWriter[object]:
    writer = CacheWriter(Selection(kind), orjson.loads)
    writer.apply(Init())
    writer.apply(put("p", "u1", "5"))
    writer.apply(Ready("10"))
    return writer


def put(name: str, uid: str, version: str, leaving: str | None = None) -> Put:
    return Put(Metadata(name, "lab", uid, version, leaving), b"{}")


def test_a_write_is_awaited_until_its_version_comes():
    pods = make()
    marks = Watermarks([pods.reader])
    marks.note_write(KEY, POD, "12")
    assert not marks.is_caught_up(KEY)
    assert marks.explain(KEY) == "pods at 12"
    assert marks.is_caught_up(("lab", "another"))
    pods.apply(put("q", "u2", "12"))
    assert marks.is_caught_up(KEY)


def test_a_bookmark_is_enough():
    pods = make()
    marks = Watermarks([pods.reader])
    marks.note_write(KEY, POD, "12")
    pods.apply(Mark("13"))
    assert marks.is_caught_up(KEY)


def test_of_several_writes_the_last_counts_in_whatever_order():
    pods = make()
    marks = Watermarks([pods.reader])
    marks.note_write(KEY, POD, "14")
    marks.note_write(KEY, POD, "12")
    pods.apply(Mark("13"))
    assert not marks.is_caught_up(KEY)


def test_each_kind_is_awaited_for_itself():
    pods, nodes = make(), make(NODE)
    marks = Watermarks([pods.reader, nodes.reader])
    marks.note_write(KEY, POD, "12")
    marks.note_write(KEY, NODE, "13")
    pods.apply(Mark("20"))
    assert not marks.is_caught_up(KEY)
    nodes.apply(Mark("13"))
    assert marks.is_caught_up(KEY)


def test_a_kind_without_a_cache_is_not_awaited():
    marks = Watermarks([make().reader])
    marks.note_write(KEY, NODE, "99")
    marks.note_delete(KEY, NODE, ("", "n"), "u9")
    assert marks.is_caught_up(KEY)


def test_a_delete_is_awaited_until_the_object_goes_or_leaves_or_is_another():
    for event in (
        Gone(Metadata("p", "lab", "u1", "12")),
        put("p", "u1", "12", leaving="2026-01-01T00:00:00Z"),
        put("p", "u2", "12"),
    ):
        pods = make()
        marks = Watermarks([pods.reader])
        marks.note_delete(KEY, POD, ("lab", "p"), "u1")
        assert not marks.is_caught_up(KEY)
        pods.apply(event)
        assert marks.is_caught_up(KEY)


def test_a_relist_without_the_object_ends_the_wait():
    pods = make()
    marks = Watermarks([pods.reader])
    marks.note_delete(KEY, POD, ("lab", "p"), "u1")
    pods.apply(Init())
    pods.apply(Ready("50"))
    assert marks.is_caught_up(KEY)
