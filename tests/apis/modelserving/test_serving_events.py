"""Events of role instances, in upstream's words and number."""

from kohort.apis.modelserving.events import RoleChange, list_plugin_events, list_role_events
from kohort.apis.modelserving.plugins.chain import PluginFailure


def change(instance: int, phase: str) -> RoleChange:
    return RoleChange("llama-0", "decode", f"decode-{instance}", phase)


def test_an_event_says_which_instance_is_in_which_phase():
    phases = ("Creating", "Running", "Deleting")
    found = list(list_role_events(change(1, phase) for phase in phases))
    assert [notice.reason for notice in found] == ["RoleCreating", "RoleRunning", "RoleDeleting"]
    assert found[0].message == "Role decode/decode-1 in ServingGroup llama-0 is now Creating"
    assert {notice.type for notice in found} == {"Normal"}


def test_the_last_event_counts_the_changes_beyond_twenty():
    found = list(list_role_events(change(n, "Running") for n in range(25)))
    assert len(found) == 21
    assert found[-1].message == "5 more role instances are now Running"


def test_defect_14_a_plugin_that_fails_is_an_event():
    (notice,) = list_plugin_events(PluginFailure("lws", "it is not installed"))
    assert (notice.type, notice.reason) == ("Warning", "PluginFailed")
    assert notice.message == "plugin lws: it is not installed"
    assert list(list_plugin_events(None)) == []
