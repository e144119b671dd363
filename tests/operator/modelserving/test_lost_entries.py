"""Pods that are gone at once and were all that their instance had."""

from serving_lab import ServingLab, role, start

from kohort.apiserver.api.requests import DeleteOptions
from kohort.cluster import kinds

GROUP, ROLE = "ServingGroupRecreate", "RoleRecreate"


async def vanish(lab: ServingLab, name: str) -> None:
    target = lab.api.target(kinds.POD, lab.namespace, name)
    await lab.api.delete(target, DeleteOptions(grace_seconds=0))


async def test_its_group_is_made_anew_where_the_user_asks_for_that(lab: ServingLab):
    await start(lab, role("a", 2, 0), recoveryPolicy=GROUP)
    before = lab.uids()
    await vanish(lab, "x-0-a-1-0")
    await lab.run(30)
    after = lab.uids()
    assert sorted(after) == sorted(before)
    assert {name for name in after if after[name] != before[name]} == {"x-0-a-0-0", "x-0-a-1-0"}


async def test_it_comes_back_alone_where_each_instance_recovers_by_itself(lab: ServingLab):
    await start(lab, role("a", 2, 0), recoveryPolicy=ROLE)
    before = lab.uids()
    await vanish(lab, "x-0-a-1-0")
    await lab.run(30)
    after = lab.uids()
    assert {name for name in after if after[name] != before[name]} == {"x-0-a-1-0"}


async def test_an_instance_that_went_by_a_lower_count_is_not_missed_later(lab: ServingLab):
    await start(lab, role("a", 2, 0), recoveryPolicy=GROUP)
    before = lab.uids()
    for count in (1, 2):
        await lab.set_field("/spec/template/roles/0/replicas", count)
        await lab.run(30)
    after = lab.uids()
    assert sorted(after) == sorted(before)
    assert {name for name in after if after[name] == before[name]} == {"x-0-a-0-0", "x-1-a-0-0"}
