"""The Services of a ModelServing while its groups or instances are replaced or taken away."""

from typing import Any

import pytest
from serving_lab import KIND, ServingLab, role, start

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


async def test_an_instance_that_gets_workers_has_its_service_before_its_role_has_rolled(
    lab: ServingLab,
):
    """Without it no worker finds its entry: so none is ready, and the rollout goes no further."""
    await start(
        lab,
        role(replicas=2, workers=0),
        replicas=1,
        rolloutStrategy={"type": "RoleRollingUpdate"},
    )
    seen: dict[str, bool] = {}

    def note(event: Any) -> None:
        name = name_of(event.entry.decode())
        if name.endswith("-1"):
            seen.setdefault(name, f"{name[:-2]}-0" in services(lab))

    lab.api.store.subscribe(lab.api.registry.of(kinds.POD).bucket, note)
    path, new = "/spec/template/roles/0", role()
    await lab.edit(
        "x",
        {"op": "add", "path": f"{path}/workerTemplate", "value": new["workerTemplate"]},
        {"op": "replace", "path": f"{path}/workerReplicas", "value": 1},
        kind=KIND,
    )
    await lab.until(lab.is_done, 120)
    assert seen == {"x-0-decode-0-1": True, "x-0-decode-1-1": True}


async def test_an_instance_that_a_partition_keeps_with_workers_keeps_its_service(lab: ServingLab):
    await start(
        lab,
        role(replicas=3, partition=1),
        replicas=1,
        rolloutStrategy={"type": "RoleRollingUpdate"},
    )
    path = "/spec/template/roles/0"
    await lab.edit(
        "x",
        {"op": "remove", "path": f"{path}/workerTemplate"},
        {"op": "replace", "path": f"{path}/workerReplicas", "value": 0},
        kind=KIND,
    )
    await lab.run(90)
    assert sorted(lab.pods()) == [
        *("x-0-decode-0-0", "x-0-decode-0-1"),
        *("x-0-decode-1-0", "x-0-decode-2-0"),
    ]
    assert sorted(services(lab)) == ["x-0-decode-0-0"]


def subdomain(policy: str) -> dict[str, Any]:
    return {"name": "lws", "type": "BuiltIn", "config": {"subdomainPolicy": policy}}


@pytest.mark.parametrize(
    ("policy", "first"), [("Shared", {"x"}), ("UniquePerReplica", {"x-0", "x-1"})]
)
@pytest.mark.parametrize("is_removed", [True, False])
async def test_a_subdomain_stays_as_long_as_a_pod_is_in_it(
    lab: ServingLab, policy: str, first: set[str], *, is_removed: bool
):
    """Pods that exist keep what a plugin gave them, and their names resolve by that Service."""
    other = "UniquePerReplica" if policy == "Shared" else "Shared"
    later = set() if is_removed else {"x"} if other == "Shared" else {"x-0", "x-1"}
    await start(lab, role("a", workers=0), plugins=[subdomain(policy)])
    before = services(lab)
    assert set(before) == first
    await lab.set_field("/spec/plugins", [] if is_removed else [subdomain(other)])
    await lab.run(30)
    assert set(services(lab)) == first | later
    assert before.items() <= services(lab).items()
    await lab.set_image("engine:2", parts=("entryTemplate",))
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)
    await lab.run(10)
    assert set(services(lab)) == later
