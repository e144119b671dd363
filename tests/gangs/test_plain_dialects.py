"""Gangs in the words of the scheduler plugins, of Koordinator and of Kueue."""

import json
from typing import Any

from gang_intents import HARD, RACK, SOFT, TIERS, a_pod, gang, intent, members

from kohort.apis.gangs.dialects import kueue
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.dialects.koordinator import KOORDINATOR, NODE_LAYER, TOPOLOGY_SPEC
from kohort.apis.gangs.intent import SubgroupKind, Tiers
from kohort.cluster.objects import annotations_of, labels_of
from kohort.model.placement import Pack

KUEUE = kueue.V1BETA2
PARTS = (SubgroupKind("subgroup", "lab/subgroup", 2, 2, pack=Pack(HARD, 0)),)


def test_coscheduling_is_told_how_many_start_together():
    (group,) = COSCHEDULING.render(intent(minimum=3, requests={"cpu": "8"}), TIERS)
    assert group["spec"] == {"minMember": 3, "minResources": {"cpu": "8"}}
    (_, second, *_) = members(intent())
    marked = COSCHEDULING.mark(a_pod(), second, TIERS)
    assert labels_of(marked)["scheduling.x-k8s.io/pod-group"] == "x-0-abc"


def test_coscheduling_names_each_clause_that_it_cannot_be_told():
    losses = COSCHEDULING.find_losses(intent(pack=Pack(HARD, 1), parts=PARTS), TIERS)
    told = [loss.partition(" cannot be given to coscheduling")[0] for loss in losses]
    assert told == [
        "hard topology up to tier 1",
        "2 subgroups of 2 and hard topology up to tier 0",
        "queue q",
    ]


def test_a_name_that_no_label_holds_is_a_loss_and_no_mark():
    long = intent(name="n" * 64, queue="")
    (loss,) = COSCHEDULING.find_losses(long, TIERS)
    assert "longer than 63 characters" in loss
    assert COSCHEDULING.mark(a_pod(), members(long)[0], TIERS) == a_pod()


def gathering(pack: Pack, tiers: Tiers = TIERS) -> Any:
    (group,) = KOORDINATOR.render(intent(pack=pack), tiers)
    text = annotations_of(group).get(TOPOLOGY_SPEC)
    return text and json.loads(text)["gatherStrategy"]


def test_koordinator_gathers_in_the_layer_of_the_tier():
    assert gathering(Pack(HARD, 1)) == [{"layer": "rack", "strategy": "MustGather"}]
    assert gathering(Pack(SOFT, 1)) == [{"layer": "rack", "strategy": "PreferGather"}]
    assert gathering(Pack(HARD, tier_name="spine")) == [
        {"layer": "spine", "strategy": "MustGather"}
    ]


def test_koordinator_prefers_every_layer_where_no_tier_is_said():
    layers = [("spine", "PreferGather"), ("rack", "PreferGather"), ("host", "PreferGather")]
    found = gathering(Pack(SOFT))
    assert [(entry["layer"], entry["strategy"]) for entry in found] == layers
    assert gathering(Pack(HARD)) == found


def test_koordinators_layers_are_numbered_from_nodes_upwards():
    spine = {"topologyLayer": "SpineLayer", "labelKey": ["net/spine"]}
    block = {"topologyLayer": "BlockLayer", "labelKey": ["net/block"]}
    block["parentTopologyLayer"] = "SpineLayer"
    node = {"topologyLayer": NODE_LAYER, "parentTopologyLayer": "BlockLayer"}
    declared = {
        "metadata": {"name": "default"},
        "spec": {"networkTopologySpec": [spine, block, node]},
    }
    assert KOORDINATOR.read_tiers
    tiers = KOORDINATOR.read_tiers((declared,))
    found = [(tier.number, tier.name, tier.label) for tier in tiers.all]
    assert found == [
        (0, NODE_LAYER, "kubernetes.io/hostname"),
        (1, "BlockLayer", "net/block"),
        (2, "SpineLayer", "net/spine"),
    ]
    assert gathering(Pack(HARD, 1), tiers) == [{"layer": "BlockLayer", "strategy": "MustGather"}]


def test_a_layer_that_is_its_own_parent_ends_the_way_up():
    loop = {"topologyLayer": NODE_LAYER, "parentTopologyLayer": NODE_LAYER}
    declared = {"metadata": {"name": "default"}, "spec": {"networkTopologySpec": [loop]}}
    assert KOORDINATOR.read_tiers
    assert len(KOORDINATOR.read_tiers((declared,)).all) == 1
    assert KOORDINATOR.read_tiers(()) == Tiers((), are_known=True)


def test_a_tier_without_a_layer_is_a_loss_in_koordinator():
    (loss,) = KOORDINATOR.find_losses(intent(pack=Pack(HARD, 7), queue=""), TIERS)
    assert loss.startswith("hard topology up to tier 7 cannot be given to koordinator")
    assert "there are 0 host, 1 rack, 2 spine" in loss
    assert gathering(Pack(HARD, 7)) is None


def test_the_workloads_own_annotations_reach_koordinators_group():
    given = {"gang.scheduling.koordinator.sh/mode": "NonStrict", "other": "x"}
    (group,) = KOORDINATOR.render(intent(annotations=given), TIERS)
    assert annotations_of(group) == {"gang.scheduling.koordinator.sh/mode": "NonStrict"}


def test_kueue_is_told_by_the_pods_alone():
    told = intent(pack=Pack(HARD, 1))
    assert KUEUE.render(told, TIERS) == ()
    marked = KUEUE.mark(a_pod(), members(told)[0], TIERS)
    assert labels_of(marked) == {
        "app": "x",
        "kueue.x-k8s.io/queue-name": "q",
        "kueue.x-k8s.io/pod-group-name": "x-0-abc",
    }
    assert annotations_of(marked) == {
        "kueue.x-k8s.io/pod-group-total-count": "4",
        "kueue.x-k8s.io/pod-group-serving": "true",
        "kueue.x-k8s.io/podset-required-topology": RACK,
    }


def test_kueue_prefers_a_level_where_the_pack_is_soft():
    told = intent(pack=Pack(SOFT, 1))
    marked = KUEUE.mark(a_pod(), members(told)[0], TIERS)
    assert annotations_of(marked)["kueue.x-k8s.io/podset-preferred-topology"] == RACK
    nearest = KUEUE.mark(a_pod(), members(intent(pack=Pack(SOFT)))[0], TIERS)
    found = annotations_of(nearest)["kueue.x-k8s.io/podset-preferred-topology"]
    assert found == "kubernetes.io/hostname"


def test_without_a_queue_kueue_cannot_be_told_of_the_gang():
    told = intent(queue="")
    assert KUEUE.mark(a_pod(), members(told)[0], TIERS) == a_pod()
    (loss,) = KUEUE.find_losses(told, TIERS)
    assert "without a queue" in loss


def test_kueue_cannot_place_the_entry_alone():
    (loss,) = KUEUE.find_losses(intent(gang(4, 1)), TIERS)
    assert "a gang of 1 of 4 members cannot be given to kueue" in loss


def test_a_tier_without_a_label_says_which_flag_is_missing():
    (loss,) = KUEUE.find_losses(intent(pack=Pack(HARD, 1)), Tiers())
    assert loss.endswith("run the operator with --tier 1=NAME=LABEL")
    (loss,) = KUEUE.find_losses(intent(pack=Pack(HARD, tier_name="rack")), Tiers())
    assert loss.endswith("run the operator with --tier N=rack=LABEL")


def test_kueue_keeps_pods_of_one_template_together_and_not_all():
    (loss,) = KUEUE.find_losses(intent(pack=Pack(HARD, 1), shapes=2), TIERS)
    assert loss.startswith("hard topology up to tier 1 cannot be given to kueue for pods of diff")
    assert KUEUE.find_losses(intent(shapes=2), TIERS) == ()


def test_kueue_does_not_look_at_who_is_in_a_domain():
    losses = KUEUE.find_losses(intent(pack=Pack(HARD, 1), exclusive="lab/rack"), TIERS)
    assert any("exclusive topology lab/rack cannot be given to kueue" in loss for loss in losses)
