"""Gangs in the words of Kubernetes itself and of KAI."""

from dataclasses import replace

from gang_intents import HARD, RACK, SOFT, TIERS, a_pod, gang, intent, members

from kohort.apis.gangs.dialects.kai import KAI
from kohort.apis.gangs.dialects.kubernetes import V1ALPHA2, V1BETA1
from kohort.apis.gangs.intent import SubgroupKind, Tiers
from kohort.cluster.objects import Object, annotations_of, labels_of
from kohort.model.placement import Pack

PARTS = (SubgroupKind("subgroup", "lab/subgroup", 2, 2),)


def spec_of(dialect, told, tiers: Tiers = TIERS) -> Object:
    (group,) = dialect.render(told, tiers)
    found: Object = group["spec"]
    return found


def test_a_native_group_says_how_many_and_by_which_label():
    told = intent(minimum=3, pack=Pack(HARD, 1), priorities=("high",), queue="")
    wanted = {
        "schedulingPolicy": {"gang": {"minCount": 3}},
        "schedulingConstraints": {"topology": [{"key": RACK}]},
        "priorityClassName": "high",
    }
    assert spec_of(V1BETA1, told) == spec_of(V1ALPHA2, told) == wanted
    assert V1BETA1.find_losses(told, TIERS) == ()


def test_the_variants_differ_in_the_version_they_are_written_in():
    versions = [dialect.render(intent(), TIERS)[0]["apiVersion"] for dialect in (V1BETA1, V1ALPHA2)]
    assert versions == ["scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha2"]


def test_a_pod_names_its_native_group_in_its_spec():
    marked = V1BETA1.mark(a_pod(), members(intent())[2], TIERS)
    assert marked["spec"] == {"containers": [], "schedulingGroup": {"podGroupName": "x-0-abc"}}
    assert V1BETA1.find_gang(labels_of(marked), annotations_of(marked)) == "x-0-abc"


def losses_of(dialect, tiers: Tiers = TIERS, **given) -> tuple[str, ...]:
    found: tuple[str, ...] = dialect.find_losses(intent(**{"queue": "", **given}), tiers)
    return found


def test_native_topology_is_hard_and_by_label_only():
    (soft,) = losses_of(V1BETA1, pack=Pack(SOFT, 1))
    assert soft.startswith("soft topology up to tier 1 cannot be given to kubernetes")
    assert "schedulingConstraints" not in spec_of(V1BETA1, intent(pack=Pack(SOFT, 1)))
    (bare,) = losses_of(V1BETA1, Tiers(), pack=Pack(HARD, 1))
    assert bare.endswith("run the operator with --tier 1=NAME=LABEL")
    (endless,) = losses_of(V1BETA1, pack=Pack(HARD))
    assert endless.startswith("hard topology without a tier is not enforced by kubernetes")


def test_a_native_group_of_two_priorities_would_not_start_and_says_so():
    (loss,) = losses_of(V1BETA1, priorities=("high", ""))
    assert loss == (
        "members have different priority classes (high, none), and kubernetes would not start "
        "the group: give all the same"
    )
    assert "priorityClassName" not in spec_of(V1BETA1, intent(priorities=("high", "")))
    (loss,) = losses_of(V1BETA1, schedulers=("volcano", ""))
    assert "different schedulers (volcano, the default)" in loss


def test_native_groups_have_no_subgroups_and_no_queues():
    losses = losses_of(V1BETA1, parts=PARTS, queue="q")
    assert [loss.partition(" cannot")[0] for loss in losses] == [
        "2 subgroups of 2",
        "queue q",
    ]


def test_kai_is_told_the_level_of_the_topology():
    told = intent(pack=Pack(HARD, 1), priorities=("high",))
    assert spec_of(KAI, told) == {
        "minMember": 4,
        "queue": "q",
        "priorityClassName": "high",
        "topologyConstraint": {"topology": "net", "requiredTopologyLevel": RACK},
    }
    soft = spec_of(KAI, intent(pack=Pack(SOFT, tier_name="rack")))
    assert soft["topologyConstraint"] == {"topology": "net", "preferredTopologyLevel": RACK}


def test_kai_is_kept_from_grouping_the_pods_itself():
    marked = KAI.mark(a_pod(), members(intent(parts=PARTS))[3], TIERS)
    assert annotations_of(marked) == {
        "pod-group-name": "x-0-abc",
        "kai.scheduler/skip-podgrouper": "true",
    }
    assert labels_of(marked)["kai.scheduler/queue"] == "q"
    assert labels_of(marked)["kai.scheduler/subgroup-name"] == "subgroup-1"


def test_each_subgroup_of_kai_has_its_size_and_its_level():
    parts = (replace(PARTS[0], pack=Pack(HARD, 0)),)
    near = {"topology": "net", "requiredTopologyLevel": "kubernetes.io/hostname"}
    assert spec_of(KAI, intent(parts=parts))["subGroups"] == [
        {"name": "subgroup-0", "minMember": 2, "topologyConstraint": near},
        {"name": "subgroup-1", "minMember": 2, "topologyConstraint": near},
    ]


def test_members_of_no_subgroup_are_in_the_one_that_kai_calls_default():
    told = intent(gang(5), parts=PARTS)
    assert spec_of(KAI, told)["subGroups"][-1] == {"name": "default", "minMember": 1}
    assert "kai.scheduler/subgroup-name" not in labels_of(
        KAI.mark(a_pod(), members(told)[4], TIERS)
    )
    joined = intent(gang(5), parts=(replace(PARTS[0], extra=1),))
    assert [(g["name"], g["minMember"]) for g in spec_of(KAI, joined)["subGroups"]] == [
        ("subgroup-0", 3),
        ("subgroup-1", 2),
    ]


def a_topology(name: str, *labels: str) -> Object:
    return {"metadata": {"name": name}, "spec": {"levels": [{"nodeLabel": key} for key in labels]}}


def test_levels_of_kai_are_numbered_from_the_node_upwards():
    assert KAI.read_tiers
    listed = KAI.read_tiers((a_topology("a", "net/spine", "net/rack", "kubernetes.io/hostname"),))
    assert [(t.number, t.name) for t in listed.all] == [(0, "hostname"), (1, "rack"), (2, "spine")]
    unlisted = KAI.read_tiers((a_topology("a", "net/spine", "net/rack"),))
    assert [(t.number, t.label) for t in unlisted.all] == [(1, "net/rack"), (2, "net/spine")]


def test_where_there_are_several_topologies_the_workload_names_one():
    assert KAI.read_tiers
    tiers = KAI.read_tiers((a_topology("a", "a/rack"), a_topology("b", "b/rack")))
    pack = Pack(HARD, 1)
    assert "topologyConstraint" not in spec_of(KAI, intent(pack=pack), tiers)
    (loss,) = losses_of(KAI, tiers, pack=pack, queue="q")
    assert "(there are a, b): name one in the annotation kai.scheduler/topology" in loss
    named = intent(pack=pack, annotations={"kai.scheduler/topology": "b"})
    wanted = {"topology": "b", "requiredTopologyLevel": "b/rack"}
    assert spec_of(KAI, named, tiers)["topologyConstraint"] == wanted


def test_a_level_that_the_topology_does_not_have_is_a_loss():
    (loss,) = losses_of(KAI, pack=Pack(HARD, 5), queue="q")
    assert "Topology net has no such level (there are 0 host, 1 rack, 2 spine)" in loss


def test_kai_places_nothing_without_a_queue():
    (loss,) = losses_of(KAI)
    assert "name one in the label kai.scheduler/queue" in loss
