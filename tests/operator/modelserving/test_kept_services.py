"""The Services of a ModelServing while its groups are replaced or taken away."""

from serving_lab import ServingLab, role, start

from kohort.cluster import kinds
from kohort.cluster.objects import name_of

SLOW = {"annotations": {"sim.kohort.dev/stop-for": "8s"}}


def slow_role() -> dict:
    """A role whose pods take a while to end, so that they outlive those of the other."""
    made = role("decode")
    for part in ("entryTemplate", "workerTemplate"):
        made[part] = {**made[part], "metadata": SLOW}
    return made


def services(lab: ServingLab) -> dict[str, str]:
    found = [s for s in lab.all(kinds.SERVICE) if name_of(s) != "kubernetes"]
    return {name_of(service): service["metadata"]["uid"] for service in found}


async def test_a_group_that_is_replaced_keeps_its_services(lab: ServingLab):
    await start(lab, role("prefill"), slow_role(), replicas=1)
    before = services(lab)
    await lab.set_image("engine:2")
    await lab.run(1)
    await lab.until(lab.is_done, 120)
    assert services(lab) == before


async def test_the_services_of_a_group_that_is_taken_away_go_when_it_has_gone(lab: ServingLab):
    await start(lab, role("prefill"), slow_role())
    await lab.set_field("/spec/replicas", 1)
    await lab.run(1)
    await lab.until(lab.is_done, 120)
    await lab.run(5)
    assert sorted(services(lab)) == ["x-0-decode-0-0", "x-0-prefill-0-0"]
