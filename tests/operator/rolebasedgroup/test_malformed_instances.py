"""An instance that cannot be served as it stands is told so, and others are served."""

import pytest
from single_lab import INSTANCE, SingleLab, component, instance

from kohort.cluster.objects import find_condition

LAB = SingleLab


async def test_a_malformed_instance_gets_a_condition_and_others_are_served(
    lab: SingleLab, caplog: pytest.LogCaptureFixture
):
    """The API server stores anything as the template of a component, and no webhook is asked."""
    bad = instance({"name": "engine", "template": {"spec": {"containers": [5]}}})
    bad["metadata"]["name"] = "bad"
    await lab.apply(bad)
    await lab.apply(instance())
    await lab.until(lab.is_instance_ready)
    stalled = find_condition(lab.find(INSTANCE, "bad") or {}, "Stalled") or {}
    assert (stalled.get("status"), stalled.get("reason")) == ("True", "Malformed")
    place = "spec.components[0].template.spec.containers[0]"
    assert stalled["message"].startswith(f"{place} must be a mapping, not 5")
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before
    assert not [record for record in caplog.records if record.exc_info]


async def test_an_instance_with_too_many_pods_keeps_no_other_waiting(lab: SingleLab):
    """The operator lists the pods of each instance that it hears of."""
    huge = instance(component("engine", 2**31 - 1))
    huge["metadata"]["name"] = "huge"
    await lab.apply(huge)
    await lab.apply(instance())
    await lab.until(lab.is_instance_ready)
    stalled = find_condition(lab.find(INSTANCE, "huge") or {}, "Stalled") or {}
    assert "asks for 2147483647 pods in each instance; at most 10000" in stalled["message"]
