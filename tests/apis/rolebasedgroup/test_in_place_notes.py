"""The annotation of an in-place update: which restarts it explains, and when it is complete."""

from typing import Any

import orjson
import pytest

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.pod_facts import (
    RolePod,
    count_restarts,
    is_same_image,
    is_update_complete,
    read_pod,
    write_note,
)

STARTED = "2026-01-01T00:00:00Z"


def pod(asked: str, running: str, restarts: int, note: str = "", image_id: str = "") -> RolePod:
    status = {
        "name": "engine",
        "image": running,
        "imageID": image_id or f"id-of-{running}",
        "restartCount": restarts,
    }
    held: dict[str, Any] = {
        "metadata": {"name": "x-a-0", "namespace": "default", "uid": "1"},
        "spec": {"containers": [{"name": "engine", "image": asked}]},
        "status": {"phase": "Running", "containerStatuses": [status]},
    }
    if note:
        held["metadata"]["annotations"] = {labels.IN_PLACE_STATE: note}
    return read_pod(orjson.dumps(held))


def begin(held: RolePod) -> str:
    return write_note(held, "x-a-new", frozenset({"engine"}), STARTED)


def test_the_restart_of_an_update_is_no_failure_and_the_next_one_is():
    note = begin(pod("engine:1", "engine:1", 0))
    assert count_restarts(pod("engine:2", "engine:2", 1, note)) == 0
    assert count_restarts(pod("engine:2", "engine:2", 2, note)) == 1


def test_the_kubelet_may_start_the_edited_image_after_its_put_back_has_begun():
    note = begin(pod("foreign:1", "engine:1", 0))
    assert count_restarts(pod("engine:1", "foreign:1", 1, note)) == 0
    assert count_restarts(pod("engine:1", "engine:1", 2, note)) == 0
    assert count_restarts(pod("engine:1", "engine:1", 3, note)) == 1


def test_an_update_that_overtakes_another_explains_the_restarts_of_both():
    note = begin(pod("engine:2", "engine:1", 0))
    assert count_restarts(pod("engine:3", "engine:3", 2, note)) == 0


@pytest.mark.parametrize("running", ["engine:1", "engine:2"])
def test_an_update_of_other_things_still_explains_the_restarts_of_the_one_before(running: str):
    note = begin(pod("engine:1", "engine:1", 0))
    held = pod("engine:2", running, int(running == "engine:2"), note)
    later = write_note(held, "x-a-newer", frozenset(), STARTED)
    assert count_restarts(pod("engine:2", "engine:2", 1, later)) == 0
    assert count_restarts(pod("engine:2", "engine:2", 2, later)) == 1
    assert not is_update_complete(pod("engine:2", "engine:1", 0, later))


def test_a_note_of_upstream_without_counts_is_kept_as_it_was():
    said = {"lastContainerStatuses": {"engine": {"imageID": "id-of-engine:1"}}}
    running = pod("engine:2", "engine:2", 1, orjson.dumps(said).decode())
    later = orjson.loads(write_note(running, "x-a-newer", frozenset(), STARTED))
    assert later["lastContainerStatuses"] == said["lastContainerStatuses"]


def test_an_update_is_not_complete_while_the_image_before_it_runs():
    note = begin(pod("foreign:1", "engine:1", 0))
    assert not is_update_complete(pod("engine:1", "foreign:1", 1, note))
    assert not is_update_complete(pod("engine:1", "docker.io/library/foreign:1", 1, note))
    assert is_update_complete(pod("engine:1", "engine:1", 2, note))


def test_an_update_is_complete_when_the_status_names_the_new_image_otherwise():
    note = begin(pod("engine:2", "engine:1", 0))
    assert is_update_complete(pod("engine:3", "engine:stable", 1, note))


def test_an_image_that_is_put_back_may_be_named_with_its_registry():
    held = "docker.io/library/engine:1"
    note = begin(pod("foreign:1", "foreign:1", 1))
    assert is_update_complete(pod("engine:1", held, 2, note, image_id="id-of-foreign:1"))


@pytest.mark.parametrize(
    ("asked", "running"),
    [
        ("engine:1", "engine:1"),
        ("engine", "docker.io/library/engine:latest"),
        ("engine@sha256:0a", "engine:1"),
        ("engine:1", "sha256:0a"),
        ("engine:1", "engine@sha256:0a"),
        ("engine:1", ""),
    ],
)
def test_no_image_is_pending_where_names_agree_or_cannot_be_compared(asked: str, running: str):
    assert "pendingImage" not in begin(pod(asked, running, 0))


@pytest.mark.parametrize(
    ("running", "asked", "is_same"),
    [
        ("registry.example/team/engine:1", "team/engine:1", True),
        ("myengine:1", "engine:1", False),
        ("docker.io/library/engine:2", "engine:1", False),
    ],
)
def test_images_are_compared_by_whole_parts_of_their_names(running: str, asked: str, is_same: bool):
    assert is_same_image(running, asked) is is_same
