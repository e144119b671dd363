"""The states of an instance whose set lets another client hold it."""

import pytest

from kohort.apis.facts import Meta
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.lifecycle import LifecycleView
from kohort.apis.rolebasedgroup.roles import HookSpec, LifecycleSpec

HOOK = HookSpec(labels={"example.com/held": "yes"}, finalizers=("example.com/drain",))


@pytest.mark.parametrize(
    ("held", "finalizers", "state"),
    [
        ("yes", ["example.com/drain"], "Normal"),
        ("yes", [], "Updated"),
        ("no", ["example.com/drain"], "Updated"),
    ],
)
def test_an_updated_instance_is_normal_when_its_client_has_set_all_again(
    held: str, finalizers: list[str], state: str
):
    marks = {labels.LIFECYCLE_STATE: "Updated", "example.com/held": held}
    metadata = Meta(name="x-0", namespace="default", labels=marks, finalizers=finalizers)
    view = LifecycleView(LifecycleSpec(in_place_update=HOOK), metadata)
    assert view.find_next(None, is_ready=True) == state
