"""Whatever is missing from an object of a built-in kind, the answer is a fault and no crash."""

from typing import Any

from golden_corpus import BEHAVIOURS, copy_of, load_accepted, load_answers, read, row_of
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.apiserver.schemas.strict import Unreadable
from kohort.cluster.fields import FieldError

ACCEPTED = load_accepted()
STORED = {key: answer["stored"] for key, answer in load_answers("accepted").items()}
Path = tuple[str | int, ...]


def paths_of(value: Any, path: Path = ()) -> list[Path]:
    """Every place in the object below its kind and name."""
    found = [path] if path and path[0] not in ("apiVersion", "kind") else []
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in entries:
        if isinstance(inner, dict | list):
            found += paths_of(inner, (*path, key))
        elif path or key not in ("apiVersion", "kind"):
            found.append((*path, key))
    return found


PATHS = {key: paths_of(obj) for key, obj in ACCEPTED.items()}


def damage(obj: dict[str, Any], path: Path, replacement: Any) -> dict[str, Any]:
    """The object with one place taken out, or emptied; a place that is gone stays gone."""
    holder: Any = obj
    for step in path[:-1]:
        holder = holder[step]
    old = holder[path[-1]]
    if replacement == "empty":
        holder[path[-1]] = type(old)()
    elif isinstance(holder, dict):
        del holder[path[-1]]
    else:
        holder.pop(path[-1])
    return obj


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    key = draw(st.sampled_from(sorted(ACCEPTED)))
    path = draw(st.sampled_from(PATHS[key]))
    return key, damage(copy_of(ACCEPTED[key]), path, draw(st.sampled_from(["gone", "empty"])))


def process(obj: dict[str, Any], old: dict[str, Any] | None) -> list[FieldError]:
    behaviour = BEHAVIOURS[row_of(obj).kind.group_resource]
    made = read(obj)
    behaviour.default(made)
    if old is None:
        behaviour.prepare_create(made)
        behaviour.finish_create(made)
    else:
        behaviour.prepare_update(made, old)
    behaviour.warn(made, old)
    behaviour.fields(made)
    return behaviour.validate(made, old)


@given(damaged())
@settings(max_examples=200, deadline=None)
def test_a_damaged_object_is_taken_or_refused(case: tuple[str, dict[str, Any]]):
    key, obj = case
    try:
        faults = [*process(copy_of(obj), None), *process(obj, copy_of(STORED[key]))]
    except Unreadable:
        return
    assert all(str(fault) for fault in faults)


@given(damaged())
@settings(max_examples=100, deadline=None)
def test_what_is_stored_of_a_damaged_object_is_read_back_as_it_is(
    case: tuple[str, dict[str, Any]],
):
    _, obj = case
    behaviour = BEHAVIOURS[row_of(obj).kind.group_resource]
    try:
        made = read(obj)
    except Unreadable:
        return
    behaviour.default(made)
    behaviour.prepare_create(made)
    behaviour.finish_create(made)
    again = read(copy_of(made))
    behaviour.default(again)
    assert again == made
