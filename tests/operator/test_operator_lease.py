"""An operator that does not hold the lease looks at nothing, and goes on when it does."""

from operator_lab import Lab, make_lws

from kohort.cluster import kinds


async def test_nothing_is_planned_without_the_lease():
    lab = await Lab().open()
    holds = False
    looked: list[object] = []
    for controller in lab.operator.controllers:
        controller._may_write = lambda: holds
        controller.record = lambda *look: looked.append(look)
    await lab.apply(make_lws())
    await lab.run(30)
    assert not looked
    assert lab.all(kinds.STATEFUL_SET) == []
    holds = True
    await lab.until(lab.is_available)
    assert looked
    await lab.close()
