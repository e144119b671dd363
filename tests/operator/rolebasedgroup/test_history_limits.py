"""How many revisions of a group stay, also while a partition keeps instances for good."""

from group_lab import GroupLab, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import labels_of

EDITS = 14


def count_revisions(lab: GroupLab) -> tuple[int, int]:
    """The revisions of the group, and of its role's set."""
    held = [labels.GROUP_REVISION in labels_of(found) for found in lab.all(CONTROLLER_REVISION)]
    return sum(held), len(held) - sum(held)


async def test_a_partition_that_stays_lets_no_history_grow(lab: GroupLab):
    rolling = {"rollingUpdate": {"partition": 1}}
    await start(lab, standalone("router", 2, rolloutStrategy=rolling))
    for number in range(2, EDITS):
        await lab.set_image(f"engine:{number}")
        await lab.until(lambda n=number: lab.images() == {"engine:1", f"engine:{n}"})
        await lab.run(10)
    groups, sets = count_revisions(lab)
    assert groups <= 7 and sets <= 12
    # The kept instance comes back as it was.
    former = lab.uids()["x-router-0"]
    await lab.delete(labels.INSTANCE, "x-router-0")
    await lab.until(lambda: lab.uids().get("x-router-0", former) != former)
    assert lab.images() == {"engine:1", f"engine:{EDITS - 1}"}
