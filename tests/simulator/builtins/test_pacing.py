"""Large sets are looked at less often, and never too late."""

from datetime import UTC, datetime, timedelta

from builtins_world import World
from test_replicaset_pods import replica_set

from kohort.cluster.kinds import POD, REPLICA_SET
from kohort.simulator.builtins.deployments.replicasets import ReplicaSets
from kohort.simulator.builtins.reconcile_pace import Pace
from kohort.simulator.component import Moment

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(wall: float, speed: float = 1.0) -> Moment:
    return Moment(START + timedelta(seconds=wall), wall * speed)


def test_what_is_small_never_rests():
    pace = Pace(0.001)
    pace.looked("k", 200, at(0))
    assert pace.rest("k", at(0)) == 0


def test_what_is_large_rests_as_long_as_it_is_large():
    pace = Pace(0.001)
    pace.looked("k", 1000, at(0))
    assert pace.rest("k", at(0.25)) == 0.75
    assert pace.rest("k", at(1)) == 0
    pace.hurry("k")
    assert pace.rest("k", at(0.25)) == 0


def test_rests_are_wall_time_however_fast_delays_pass():
    pace = Pace(0.001)
    pace.looked("k", 1000, at(0, speed=100))
    assert pace.rest("k", at(0.25, speed=100)) == 75


def test_a_large_set_reaches_its_size_and_reports_it_after_its_rest():
    world = World(ReplicaSets())
    world.create(REPLICA_SET, replica_set(replicas=700))
    world.settle()
    world.advance(5)
    world.advance(5)
    assert len(world.names(POD)) == 700
    assert world.read(REPLICA_SET, "x")["status"]["replicas"] == 700


def test_a_user_does_not_wait_for_a_large_set():
    world = World(ReplicaSets())
    world.create(REPLICA_SET, replica_set(replicas=300))
    world.settle()
    world.patch(REPLICA_SET, "x", {"spec": {"replicas": 0}})
    world.settle()
    assert all(pod["metadata"].get("deletionTimestamp") for pod in world.all(POD))
