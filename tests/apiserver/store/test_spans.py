"""A span shows what a copy of the past would show, without making one."""

from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.store.store import Store

KEYS = st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(["k", "l", "m", "n"]))
WRITES = st.lists(st.tuples(KEYS, st.booleans()), max_size=20)


def write(store: Store, writes: list[tuple[tuple[str, str], bool]]) -> None:
    for key, is_removal in writes:
        obj = {"metadata": {"name": key[1]}}
        if not is_removal:
            store.put("things", key, obj, {})
        elif store.find("things", key) is not None:
            store.remove("things", key, obj, {})


@given(WRITES, WRITES, st.sampled_from([None, "", "a", "b"]), st.none() | KEYS)
def test_it_is_the_past_whatever_was_written_since(before, after, namespace, start):
    store = Store()
    write(store, before)
    version = store.revision
    entries = store.bucket("things").entries
    then = [
        entries[key].raw
        for key in sorted(entries)
        if (namespace is None or key[0] == namespace) and (start is None or key > start)
    ]
    write(store, after)
    span = store.at("things", version, namespace, start)
    assert [entry.raw for entry in span] == then
    assert len(span) == len(then)
