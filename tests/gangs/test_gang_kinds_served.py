"""The kinds of gang schedulers on our own server: what it takes, keeps and refuses."""

import copy
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from gang_intents import TIERS, intent

from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialects.kubernetes import V1ALPHA2
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.gangs.intent import SubgroupKind
from kohort.apis.gangs.known import DIALECTS
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import Invalid
from kohort.cluster.kinds import DEFINITION, NAMESPACE
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address
from kohort.model.placement import Pack, Strength

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "gangs.md"


async def open_cluster(name: str) -> InProcessCluster:
    api = ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1))
    cluster = InProcessCluster(api)
    await cluster.create(NAMESPACE, "", {"metadata": {"name": "ns"}})
    for crd in definitions_of(name):
        await cluster.create(DEFINITION, "", crd)
    return cluster


def full_group(name: str) -> tuple[Kind, Object]:
    """A group with all that can be asked for, in the variant that we define."""
    dialect = DIALECTS[name][-1]
    parts = (
        SubgroupKind("subgroup", "lab/subgroup", 2, 2, {"lab/name": "x"}, Pack(Strength.HARD, 0)),
    )
    told = intent(pack=Pack(Strength.HARD, 1), parts=parts, requests={"cpu": "4"})
    (group,) = dialect.render(told, TIERS)
    return dialect.kinds[0], group


@pytest.mark.parametrize("name", [name for name in DIALECTS if definitions_of(name)])
async def test_what_is_rendered_is_kept_as_it_is(name: str):
    cluster = await open_cluster(name)
    kind, group = full_group(name)
    stored = await cluster.create(kind, "ns", copy.deepcopy(group))
    assert stored["spec"].items() >= group["spec"].items()


async def test_a_stand_in_lives_beside_the_built_in_kinds_of_its_group():
    cluster = await open_cluster("kubernetes")
    classes = Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False)
    await cluster.create(classes, "", {"metadata": {"name": "high"}, "value": 7})
    await cluster.create(V1ALPHA2.kinds[0], "ns", full_group("kubernetes")[1])


async def test_the_spec_of_a_stand_in_cannot_be_changed():
    cluster = await open_cluster("kubernetes")
    kind, group = full_group("kubernetes")
    await cluster.create(kind, "ns", group)
    change = {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
    with pytest.raises(Invalid, match="field is immutable"):
        await cluster.patch(Address(kind, "ns", "x-0-abc"), change)


async def test_volcanos_group_has_no_status_of_its_own_to_write():
    cluster = await open_cluster("volcano")
    kind, group = full_group("volcano")
    await cluster.create(kind, "ns", group)
    phase = {"status": {"phase": "Inqueue"}}
    changed = await cluster.patch(Address(VOLCANO.kinds[0], "ns", "x-0-abc"), phase)
    assert changed["status"] == {"phase": "Inqueue"}


@pytest.mark.parametrize("name", DIALECTS)
def test_the_page_of_dialects_has_a_line_for_each(name: str):
    text = PAGE.read_text()
    dialect = DIALECTS[name][0]
    assert f"| `{name}` |" in text
    for word in (dialect.membership, *(kind.api_version for kind in dialect.kinds)):
        short = word.replace("kueue.x-k8s.io/", "…/")
        assert word in text or short in text, word
    assert not dialect.scheduler or f"`{dialect.scheduler}`" in text
