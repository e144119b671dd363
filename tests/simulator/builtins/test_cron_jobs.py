"""CronJobs: a Job for each moment that is due, and never two for one."""

from builtins_world import World

from kohort.cluster.kinds import CRON_JOB, JOB, POD
from kohort.simulator.builtins.jobs.controller import Jobs
from kohort.simulator.builtins.jobs.cron import CronJobs

POD_TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "i"}]}}
JOB_SPEC = {"completions": 1, "parallelism": 1, "backoffLimit": 6, "template": POD_TEMPLATE}


def start(**spec) -> World:
    world = World(CronJobs(), Jobs())
    asked = {"schedule": "*/10 * * * *", "jobTemplate": {"spec": JOB_SPEC}, **spec}
    world.create(CRON_JOB, {"metadata": {"name": "tick"}, "spec": asked})
    world.settle()
    return world


def pass_minutes(world: World, minutes: float) -> None:
    for _ in range(int(minutes * 2)):
        world.advance(30)


def end_pods(world: World) -> None:
    for pod in world.all(POD):
        world.set_ready(pod["metadata"]["name"], False, "Succeeded")
    world.settle()


def test_a_job_is_made_when_the_schedule_is_due_and_is_named_after_its_minute():
    world = start()
    assert world.names(JOB) == []
    pass_minutes(world, 10)
    (name,) = world.names(JOB)
    assert name == f"tick-{int(world.moment.wall.timestamp()) // 60}"
    status = world.read(CRON_JOB, "tick")["status"]
    assert status["lastScheduleTime"] == "2026-01-01T00:10:00Z"
    assert [job["name"] for job in status["active"]] == [name]


def test_jobs_that_ended_well_are_kept_three_at_most():
    world = start()
    for _ in range(5):
        pass_minutes(world, 10)
        end_pods(world)
    assert len(world.names(JOB)) == 3
    assert world.read(CRON_JOB, "tick")["status"]["lastSuccessfulTime"]


def test_a_suspended_cron_job_makes_nothing():
    world = start(suspend=True)
    pass_minutes(world, 60)
    assert world.names(JOB) == []


def test_forbid_waits_for_the_job_that_runs():
    world = start(concurrencyPolicy="Forbid")
    pass_minutes(world, 30)
    assert len(world.names(JOB)) == 1
    assert any(reason == "JobAlreadyActive" for _, reason, _ in world.events)


def test_replace_ends_the_job_that_runs():
    world = start(concurrencyPolicy="Replace")
    pass_minutes(world, 20)
    assert world.names(JOB) == [f"tick-{int(world.moment.wall.timestamp()) // 60}"]


def test_of_moments_that_were_missed_only_the_last_is_made_up_for():
    world = start()
    world.advance(3600)
    assert len(world.names(JOB)) == 1
    assert world.read(CRON_JOB, "tick")["status"]["lastScheduleTime"] == "2026-01-01T01:00:00Z"


def test_nothing_is_made_up_for_beyond_the_deadline():
    world = start(schedule="0 0 * * *", startingDeadlineSeconds=60)
    world.advance(86_400 + 120)
    assert world.names(JOB) == []


def test_a_schedule_follows_its_time_zone():
    world = start(schedule="30 1 * * *", timeZone="Europe/Berlin")
    pass_minutes(world, 31)
    assert world.read(CRON_JOB, "tick")["status"]["lastScheduleTime"] == "2026-01-01T00:30:00Z"
