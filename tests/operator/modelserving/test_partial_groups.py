"""Groups that serve with some of their instances while a new template comes."""

import pytest
from serving_lab import KIND, Refusing, ServingLab, role, start

from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition

ROLE = "/spec/template/roles/0"
NEVER = {"annotations": {"sim.kohort.dev/never-ready": "true"}}


def put(path: str, value: object) -> Object:
    return {"op": "add", "path": path, "value": value}


@pytest.mark.parametrize("unavailable", [1, 2])
async def test_groups_that_scale_up_with_a_new_template_go_within_the_budget(
    lab: ServingLab, unavailable: int
):
    """Each serves with the instance that it has, though it has not all that it should have now."""
    rolling = {"maxUnavailable": unavailable}
    kind = "ServingGroupRollingUpdate"
    strategy = {"type": kind, "rollingUpdateConfiguration": rolling}
    await start(lab, role(workers=0), replicas=4, rolloutStrategy=strategy)
    template = put(f"{ROLE}/entryTemplate/metadata", NEVER)
    before = lab.uids()
    await lab.edit("x", template, put(f"{ROLE}/replicas", 2), kind=KIND)
    await lab.run(120)
    after = lab.uids()
    assert sum(after.get(name) == uid for name, uid in before.items()) == 4 - unavailable


async def test_a_rollout_of_groups_that_could_not_scale_up_ends_within_the_budget(lab: ServingLab):
    await start(lab, role(workers=0), replicas=4)
    lab.api.context.admission = Refusing("CREATE", kinds.POD)
    await lab.set_field(f"{ROLE}/replicas", 2)
    await lab.run(20)
    await lab.set_image("engine:2", parts=("entryTemplate",))
    lab.mend_webhooks()
    least = 4
    for _ in range(240):
        await lab.run(0.5)
        least = min(least, count_serving(lab))
        if lab.is_done() and lab.images() == {"engine:2"}:
            break
    assert lab.images() == {"engine:2"}
    assert least == 3


def count_serving(lab: ServingLab) -> int:
    """The groups that have a ready pod."""
    ready = lab.pods(lambda pod: (find_condition(pod, "Ready") or {}).get("status") == "True")
    return len({name.split("-")[1] for name in ready})
