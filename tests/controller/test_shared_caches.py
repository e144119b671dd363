"""APIs that watch the same share one cache, so a second one costs no second watch."""

from random import Random

from controller_world import TestTime

from kohort.apis.facts import Whole, read_pod
from kohort.apis.modelserving.api import FORMER_MODEL_SERVING, MODEL_SERVING
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.warmup.api import ROLE_BASED_GROUP_WARMUP
from kohort.cluster.objects import Kind
from kohort.cluster.port import Selection
from kohort.controller.api_controller import ApiController, ControllerContext
from kohort.controller.caches.informers import Informers, SharedWatches

POD = Kind("", "v1", "Pod", "pods")


def make_informers(
    shared: SharedWatches | None = None,
) -> tuple[Informers, ControllerContext]:
    time = TestTime()
    context = ControllerContext(None, time, Random(1))  # type: ignore[arg-type]
    return Informers(None, time, Random(1), shared=shared), context  # type: ignore[arg-type]


def test_both_groups_of_one_api_share_all_children_and_no_roots():
    informers, context = make_informers()
    first = ApiController(MODEL_SERVING, informers, context)
    alone = len(informers.caches)
    second = ApiController(FORMER_MODEL_SERVING, informers, context)
    assert len(informers.caches) == alone + 1
    assert first.roots is not second.roots
    for (_, one), (_, other) in zip(first.children, second.children, strict=True):
        assert one is other


def test_what_is_read_otherwise_has_a_cache_of_its_own():
    informers, _ = make_informers()
    found = informers.add(Selection(POD), Whole)
    assert informers.add(Selection(POD), Whole) is found
    assert informers.add(Selection(POD, labels="a"), Whole) is not found
    assert informers.add(Selection(POD), Whole, {"x": lambda pod: ()}) is not found
    assert informers.add(Selection(POD), read_pod) is not found


def test_a_warmup_reads_pods_of_groups_by_the_watch_of_the_groups():
    shared = SharedWatches()
    informers, context = make_informers(shared)
    groups = ApiController(ROLE_BASED_GROUP, informers, context)
    watches = len(shared)
    warmups = ApiController(ROLE_BASED_GROUP_WARMUP, informers, context)
    assert len(shared) == watches + 2  # of warm-ups, and of their own pods
    pods = next(cache for watched, cache in groups.children if watched.kind == POD)
    ((_, named),) = warmups.references
    assert named.selection == pods.selection and named is not pods
