"""Events can be selected by what they are about, through whichever group they came."""

import pytest

from kohort.apiserver.resources.events import event_fields


@pytest.mark.parametrize("name", ["involvedObject", "regarding"])
def test_an_event_is_found_by_the_names_of_both_groups(name: str):
    fields = event_fields({name: {"kind": "Pod", "name": "x-0"}, "reason": "Failed"})
    assert fields["involvedObject.name"] == fields["regarding.name"] == "x-0"
    assert fields["reason"] == "Failed"
