"""The view of a forecast: GPUs of units that are half made, restarts, workloads that go."""

from dataclasses import dataclass, field

from scenes import NOW, Scene, ago, make_lws

from kohort.apis.api import Snapshot
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.revision import make_revision
from kohort.apis.served import APIS
from kohort.cluster.objects import Object, name_of
from kohort.forecast.objects import forecast_objects
from kohort.forecast.values import Ending
from kohort.views.forecasts import AmountView, ForecastView, forecast_picture

GPUS = 8  # of each pod


def make_gpu_lws(image: str = "engine:2", **rolling: int) -> Object:
    """Four groups of three pods with eight GPUs each: 96 GPUs."""
    lws = make_lws(image)
    pods = lws["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pods["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": str(GPUS)}}
    lws["spec"]["rolloutStrategy"] = {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"maxUnavailable": 1, **rolling},
    }
    return lws


@dataclass
class GpuScene(Scene):
    """A scene whose pods ask for GPUs, of which some do not exist yet."""

    lws: Object = field(default_factory=make_gpu_lws)
    absent: tuple[str, ...] = ()

    def stored(self) -> list[Object]:
        made = [make_revision(make_gpu_lws(f"engine:{n}"), n) for n in (1, 2)]
        for number, revision in enumerate(made):
            revision["metadata"]["creationTimestamp"] = ago(minutes=300 - 290 * number)
        made[0]["metadata"]["annotations"] = {labels.SERVED: "true"}
        return made

    def pods(self) -> list[Object]:
        return [pod for pod in super().pods() if name_of(pod) not in self.absent]

    def pod(self, group: int, index: int) -> Object:
        pod = super().pod(group, index)
        limits = {"limits": {"nvidia.com/gpu": str(GPUS)}}
        pod["spec"]["containers"] = [{"name": "engine", "resources": limits}]
        return pod

    def foretell(self) -> ForecastView:
        view = forecast_picture(self.picture())
        assert view is not None
        return view


def test_a_new_group_without_its_workers_does_not_tell_the_gpus_of_its_revision():
    scene = GpuScene(revisions=(1, 1, 1, 2), boundary=3, absent=("llama-3-1", "llama-3-2"))
    gpus = scene.foretell().gpus
    assert gpus == AmountView(before=96, peak=96, after=96, extra=0)


def test_an_old_group_without_its_workers_does_not_tell_the_gpus_of_the_others():
    scene = GpuScene(revisions=(1, 1, 1, 1), boundary=4, absent=("llama-0-1", "llama-0-2"))
    gpus = scene.foretell().gpus
    assert (gpus.before, gpus.after) == (96, 96)


def test_an_extra_group_is_no_restart():
    lws = make_gpu_lws(partition=2, maxSurge=1, maxUnavailable=0)
    view = GpuScene(revisions=(1, 1, 1, 1), boundary=4, lws=lws).foretell()
    assert any("group 4" in step.goes for step in view.steps)
    assert [(each.what, each.units) for each in view.restarts] == [("2 of 4 groups", 2)]


def test_a_workload_that_is_being_deleted_has_no_steps():
    lws = make_gpu_lws()
    lws["metadata"] |= {"deletionTimestamp": ago(minutes=1), "finalizers": ["example.com/hold"]}
    view = GpuScene(revisions=(1, 1, 1, 1), boundary=4, lws=lws).foretell()
    assert (view.steps, view.ending, view.restarts) == ((), Ending.DELETED, ())
    assert view.notes[0].startswith("it is being deleted")


def test_an_object_that_is_being_deleted_has_no_writes():
    api = next(each for each in APIS if each.delegation is not None)
    root = {"metadata": {"name": "chat", "deletionTimestamp": ago(minutes=1)}, "spec": {}}
    found = forecast_objects(api, Snapshot(root=root, children={}), NOW)
    assert (found.steps, found.ending) == ((), Ending.DELETED)
