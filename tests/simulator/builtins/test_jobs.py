"""Jobs: pods run to their end, as many as are wanted, and each is counted once."""

import pytest
from builtins_world import START, ComponentHarness, World
from hypothesis import given
from hypothesis import strategies as st

from kohort.cluster.errors import Forbidden
from kohort.cluster.kinds import JOB, POD
from kohort.simulator.builtins.jobs.controller import Jobs
from kohort.simulator.builtins.jobs.spec import read_indexes, write_indexes
from kohort.simulator.component import CreateRequest, Moment

TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}}


def job(name: str = "run", **spec) -> dict:
    asked = {"completions": 1, "parallelism": 1, "backoffLimit": 6, "template": TEMPLATE, **spec}
    return {"metadata": {"name": name}, "spec": asked}


def start(**spec) -> World:
    world = World(Jobs())
    world.create(JOB, job(**spec))
    world.settle()
    return world


def end_pods(world: World, phase: str = "Succeeded") -> int:
    """Let everything that runs end."""
    ended = 0
    for pod in world.all(POD):
        if pod["status"]["phase"] not in ("Succeeded", "Failed"):
            world.set_ready(pod["metadata"]["name"], False, phase)
            ended += 1
    world.settle()
    return ended


def status(world: World) -> dict:
    return world.read(JOB, "run")["status"]


def test_a_job_is_complete_when_its_pod_has_succeeded():
    world = start()
    assert status(world)["active"] == 1
    end_pods(world)
    assert status(world)["succeeded"] == 1
    assert [c["type"] for c in status(world)["conditions"]] == ["SuccessCriteriaMet", "Complete"]
    assert "active" not in status(world)
    assert ("Normal", "Completed", "Job completed") in world.events


def test_each_pod_that_is_made_or_deleted_is_an_event():
    world = start(completions=2, parallelism=2)
    made = world.names(POD)
    assert [e for e in world.events if e[1] == "SuccessfulCreate"] == [
        ("Normal", "SuccessfulCreate", f"Created pod: {name}") for name in made
    ]
    world.patch(JOB, "run", {"spec": {"suspend": True}})
    world.settle()
    assert {e[2] for e in world.events if e[1] == "SuccessfulDelete"} == {
        f"Deleted pod: {name}" for name in made
    }


def test_a_refused_pod_is_an_event_once():
    component = Jobs()
    world = World(component)
    world.create(JOB, job())
    component.refused(
        "default/run", CreateRequest(POD, {}), Forbidden('pods "run-1" is forbidden: no')
    )
    world.settle()
    world.advance(100)
    assert [e for e in world.events if e[0] == "Warning"] == [
        ("Warning", "FailedCreate", 'Error creating: pods "run-1" is forbidden: no')
    ]


def test_pods_are_made_as_many_at_once_as_is_allowed():
    world = start(completions=5, parallelism=2)
    waves = []
    while ended := end_pods(world):
        waves.append(ended)
    assert waves == [2, 2, 1]
    assert status(world)["succeeded"] == 5


def test_a_failed_pod_is_replaced_after_a_wait_that_doubles():
    world = start(backoffLimit=3)
    end_pods(world, "Failed")
    assert len(world.names(POD)) == 1
    world.advance(10)
    assert len(world.names(POD)) == 2
    end_pods(world, "Failed")
    world.advance(10)
    assert len(world.names(POD)) == 2
    world.advance(10)
    assert len(world.names(POD)) == 3


def test_a_job_fails_beyond_its_limit_and_names_the_reason():
    world = start(backoffLimit=0)
    end_pods(world, "Failed")
    assert status(world)["failed"] == 1
    assert status(world)["conditions"][-1]["reason"] == "BackoffLimitExceeded"
    world.advance(1000)
    assert len(world.names(POD)) == 1


def test_a_job_past_its_deadline_ends_its_pods():
    world = start(activeDeadlineSeconds=30)
    world.advance(30)
    world.converge()
    assert status(world)["conditions"][-1]["reason"] == "DeadlineExceeded"
    assert world.names(POD) == []


def test_pods_that_a_deadline_ends_have_failed_and_the_reason_stays_the_deadline():
    world = start(activeDeadlineSeconds=30, backoffLimit=0)
    world.set_ready(world.names(POD)[0])
    world.advance(30)
    end_pods(world, "Failed")
    assert (status(world)["failed"], status(world).get("succeeded")) == (1, None)
    assert [c["reason"] for c in status(world)["conditions"]] == ["DeadlineExceeded"] * 2


def test_a_suspended_job_has_no_pods_until_it_is_resumed():
    world = start(suspend=True)
    assert world.names(POD) == []
    assert status(world)["conditions"][0]["reason"] == "JobSuspended"
    world.patch(JOB, "run", {"spec": {"suspend": False}})
    world.settle()
    assert len(world.names(POD)) == 1
    assert status(world)["conditions"][0]["status"] == "False"


def test_a_job_goes_when_its_time_to_live_is_over():
    world = start(ttlSecondsAfterFinished=60)
    end_pods(world)
    world.advance(59)
    assert world.exists(JOB, "run")
    world.advance(1)
    assert "deletionTimestamp" in world.read(JOB, "run")["metadata"]


class Stepped(World):
    """A world whose simulated time is stepped, while no wall time passes."""

    @property
    def moment(self) -> Moment:
        return Moment(START, self.elapsed)


def test_a_deadline_is_over_when_simulated_time_says_so():
    world = Stepped(Jobs())
    world.create(JOB, job(activeDeadlineSeconds=30))
    world.settle()
    world.advance(29)
    assert "conditions" not in status(world)
    world.advance(1)
    world.converge()
    assert status(world)["conditions"][-1]["reason"] == "DeadlineExceeded"


def test_a_time_to_live_is_over_when_simulated_time_says_so():
    world = Stepped(Jobs())
    world.create(JOB, job(ttlSecondsAfterFinished=60, activeDeadlineSeconds=300))
    world.settle()
    world.advance(100)
    end_pods(world)
    world.advance(59)
    assert "deletionTimestamp" not in world.read(JOB, "run")["metadata"]
    world.advance(1)
    assert "deletionTimestamp" in world.read(JOB, "run")["metadata"]


def test_a_deadline_begins_anew_when_a_job_is_resumed():
    world = Stepped(Jobs())
    world.create(JOB, job(activeDeadlineSeconds=30))
    world.settle()
    for suspend in (True, False):
        world.advance(20)
        world.patch(JOB, "run", {"spec": {"suspend": suspend}})
        world.converge()
    assert [c["type"] for c in status(world)["conditions"]] == ["Suspended"]


def test_the_pods_of_a_job_that_is_gone_need_not_be_counted():
    world = start()
    (pod,) = world.names(POD)
    world.delete(POD, pod)
    world.delete(JOB, "run")
    world.settle()
    assert "batch.kubernetes.io/job-tracking" not in (
        world.read(POD, pod)["metadata"].get("finalizers") or []
    )


def test_at_rest_nothing_is_written():
    world = start(completions=2, parallelism=2)
    world.converge()
    before = len(world.log)
    world.wake("default/run")
    world.settle()
    assert len(world.log) == before


def note_end(world: World) -> ComponentHarness:
    """Let the one pod succeed, and the status note it: the next step would let the pod go."""
    (pod,) = (p["metadata"]["name"] for p in world.all(POD) if p["status"]["phase"] == "Pending")
    world.set_ready(pod, False, "Succeeded")
    runner = world.runners[0]
    runner.deliver(POD)
    world.step(runner)
    assert status(world)["uncountedTerminatedPods"]
    runner.deliver(JOB)
    return runner


def test_a_controller_with_an_old_view_takes_no_count_back():
    world = start(completions=3)
    runner = note_end(world)
    world.step(runner)
    runner.deliver(POD)
    old = ComponentHarness(Jobs())
    old.cache = {kind: dict(entries) for kind, entries in runner.cache.items()}
    old.keys = {"default/run": None}
    world.settle()
    end_pods(world)
    assert status(world)["succeeded"] == 2
    world.step(old)
    assert status(world)["succeeded"] == 2


def test_a_finalizer_that_another_client_adds_meanwhile_stays():
    world = start()
    runner = note_end(world)
    (pod,) = world.names(POD)
    held = world.read(POD, pod)["metadata"]["finalizers"]
    world.patch(POD, pod, {"metadata": {"finalizers": [*held, "example.com/keep"]}})
    world.step(runner)
    world.settle()
    assert world.read(POD, pod)["metadata"]["finalizers"] == ["example.com/keep"]
    assert status(world)["succeeded"] == 1


@pytest.mark.parametrize(
    ("indexes", "text"),
    [((), ""), ((0,), "0"), ((0, 1), "0,1"), ((0, 1, 2, 5), "0-2,5"), ((3, 4, 5, 7, 8), "3-5,7,8")],
)
def test_indexes_are_written_as_a_real_server_writes_them(indexes: tuple[int, ...], text: str):
    assert write_indexes(indexes) == text
    assert read_indexes(text) == set(indexes)


def is_running(pod: dict) -> bool:
    return pod["status"]["phase"] == "Pending" and "deletionTimestamp" not in pod["metadata"]


@given(st.lists(st.sampled_from(("Succeeded", "Failed", "delete", "late")), max_size=12))
def test_every_end_is_counted_once_whatever_arrives_late(ends: list[str]):
    world = World(Jobs(), lag=True)
    world.create(JOB, job(completions=4, parallelism=2, backoffLimit=100))
    world.settle()
    outcomes = {"Succeeded": 0, "Failed": 0}
    for end in ends:
        running = [p["metadata"]["name"] for p in world.all(POD) if is_running(p)]
        if end == "late":
            world.runners[0].deliver(POD, 1)
        elif running and end == "delete":
            world.delete(POD, running[0])
        elif running:
            world.set_ready(running[0], False, end)
            outcomes[end] += 1
        if end != "late":
            world.settle()
    world.settle()
    found = status(world)
    assert found.get("succeeded", 0) == outcomes["Succeeded"]
    assert found.get("failed", 0) >= outcomes["Failed"]
