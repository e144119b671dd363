"""Our definitions of gang schedulers' kinds on a real server: taken, served, and good for us."""

import json
from collections.abc import Iterator

import pytest

from control_plane import ControlPlane, real_plane
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.intent import Intent, SubgroupKind, Tier, Tiers
from kohort.apis.gangs.known import DIALECTS
from kohort.cluster.objects import name_of
from kohort.model.placement import Gang, Pack, Strength

pytestmark = pytest.mark.real

# The stand-in for built-in kinds is for our own server: a real one serves no others in their group.
DEFINED = [name for name in DIALECTS if definitions_of(name) and name != "kubernetes"]
TIERS = Tiers((Tier(0, "host", "lab/host", "net"), Tier(1, "rack", "lab/rack", "net")), True)


@pytest.fixture(scope="module")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("definitions") / "plane"
    with real_plane(folder, "--nodes", "1") as control_plane:
        crds = {name_of(crd): crd for name in DEFINED for crd in definitions_of(name)}
        listed = {"apiVersion": "v1", "kind": "List", "items": list(crds.values())}
        control_plane.kubectl("create", "--validate=strict", "-f", "-", feed=json.dumps(listed))
        wanted = [f"crd/{name}" for name in crds]
        control_plane.kubectl("wait", "--for=condition=Established", "--timeout=180s", *wanted)
        yield control_plane


@pytest.mark.parametrize("name", DEFINED)
def test_no_schema_breaks_a_rule_of_the_server(control_plane: ControlPlane, name: str):
    for crd in definitions_of(name):
        stored = json.loads(control_plane.kubectl("get", "crd", name_of(crd), "-o", "json"))
        told = {one["type"]: one["status"] for one in stored["status"]["conditions"]}
        assert (told["Established"], told["NamesAccepted"]) == ("True", "True")
        assert "NonStructuralSchema" not in told


@pytest.mark.parametrize("name", DEFINED)
def test_a_group_with_all_clauses_is_stored_as_it_is(control_plane: ControlPlane, name: str):
    parts = (
        SubgroupKind("subgroup", "lab/subgroup", 2, 2, {"lab/name": "x"}, Pack(Strength.SOFT, 0)),
    )
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u"}
    gang = Gang(0, "u", "r", 4, 4, pack=Pack(Strength.HARD, 1))
    told = Intent("default", name, gang, owner, requests={"cpu": "4"}, queue="q", parts=parts)
    dialect = DIALECTS[name][-1]
    (group,) = dialect.render(told, TIERS)
    # The garbage collector deletes objects whose owner is gone.
    del group["metadata"]["ownerReferences"]
    control_plane.kubectl("create", "--validate=strict", "-f", "-", feed=json.dumps(group))
    kind = dialect.kinds[0]
    path = f"{kind.plural}.{kind.version}.{kind.group}"
    stored = json.loads(control_plane.kubectl("get", path, name, "-o", "json"))
    assert stored["spec"].items() >= group["spec"].items()
