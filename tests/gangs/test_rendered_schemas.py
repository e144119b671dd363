"""What is rendered, against the definitions that real schedulers bring."""

import copy
import os
from functools import cache
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from gang_intents import KNOWN_TIERS, TIERS, intent, intents, members
from hypothesis import given

from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects import kubernetes
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.dialects.kai import KAI
from kohort.apis.gangs.dialects.koordinator import KOORDINATOR
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.gangs.intent import Intent, Tiers
from kohort.apiserver.schemas.structural import Structural, compile_schema
from kohort.cluster.objects import Object
from kohort.model.placement import Pack, Strength

SHARED = os.environ.get("KOHORT_SHARED")
UPSTREAM = {
    "volcano": "scheduling.volcano.sh_podgroups.yaml",
    "coscheduling": "scheduler-plugins_scheduling.x-k8s.io_podgroups.yaml",
    # Koordinator's own has the same fields, in another group.
    "koordinator": "scheduler-plugins_scheduling.x-k8s.io_podgroups.yaml",
    "kai": "kai_scheduling.run.ai_podgroups.yaml",
}
OBJECTS = (VOLCANO, COSCHEDULING, KOORDINATOR, KAI, kubernetes.V1ALPHA2)


@cache
def compile_upstream(name: str) -> Structural:
    path = Path(SHARED or ".", "data/volcano", UPSTREAM[name])
    return compile_crd(yaml.safe_load(path.read_text()))


@cache
def compile_ours(name: str) -> Structural:
    return compile_crd(definitions_of(name)[0])


def compile_crd(crd: Object) -> Structural:
    return compile_schema(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


def find_faults(schema: Structural, obj: Object) -> list[str]:
    """What a server would complain of; a field that it does not know is a fault, too."""
    taken = copy.deepcopy(obj)
    unknown = [f"unknown field {path}" for path in schema.prune(taken)]
    schema.default(taken)
    return [*unknown, *map(str, schema.validate(taken))]


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
@pytest.mark.parametrize("dialect", OBJECTS[:4], ids=lambda d: d.name)
@given(told=intents(), tiers=KNOWN_TIERS)
def test_what_is_rendered_is_valid_upstream(dialect: Dialect, told: Intent, tiers: Tiers):
    for obj in dialect.render(told, tiers):
        assert find_faults(compile_upstream(dialect.name), obj) == []


@pytest.mark.parametrize("dialect", OBJECTS, ids=lambda d: d.name)
@given(told=intents(), tiers=KNOWN_TIERS)
def test_what_is_rendered_is_valid_by_our_own_definitions(
    dialect: Dialect, told: Intent, tiers: Tiers
):
    for obj in dialect.render(told, tiers):
        assert find_faults(compile_ours(dialect.name), obj) == []


@given(told=intents(), tiers=KNOWN_TIERS)
def test_native_groups_are_valid_in_1_37(told: Intent, tiers: Tiers):
    for obj in kubernetes.V1BETA1.render(told, tiers):
        kubernetes_validate.validate(obj, "1.37", strict=True)


def test_a_native_pod_is_valid_in_1_37():
    told = intent()
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    marked = kubernetes.V1BETA1.mark(pod, members(told)[0], TIERS)
    kubernetes_validate.validate(marked, "1.37", strict=True)


def test_a_field_that_the_schema_does_not_have_is_a_fault():
    (obj,) = VOLCANO.render(intent(pack=Pack(Strength.HARD, 1)), TIERS)
    obj["spec"]["networkTopology"]["tier"] = 1
    obj["spec"]["minMember"] = "4"
    faults = find_faults(compile_ours("volcano"), obj)
    assert faults[0] == "unknown field spec.networkTopology.tier"
    assert len(faults) == 2


def test_an_unknown_field_of_a_native_group_is_refused_in_1_37():
    (obj,) = kubernetes.V1BETA1.render(intent(), TIERS)
    obj["spec"]["podGroupTemplateRef"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(obj, "1.37", strict=True)
