"""Every example of upstream: it is taken by our definitions, converted, validated and rendered."""

from collections.abc import AsyncIterator, Iterator
from copy import deepcopy
from datetime import UTC, datetime
from random import Random

import pytest

from kohort.apis.definitions.shapes import Shape
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.admission.smaller_kinds import validate_policy
from kohort.apis.rolebasedgroup.admission.validation import (
    as_group,
    validate_group,
    validate_group_set,
)
from kohort.apis.rolebasedgroup.conversions import convert
from kohort.apis.rolebasedgroup.coordination import make_policy, make_rules
from kohort.apis.rolebasedgroup.definition import DEFINITIONS
from kohort.apis.rolebasedgroup.objects.adapters import make_adapter
from kohort.apis.rolebasedgroup.objects.config import make_config_map
from kohort.apis.rolebasedgroup.objects.instances import make_instance
from kohort.apis.rolebasedgroup.objects.pods import list_places, make_pod
from kohort.apis.rolebasedgroup.objects.services import make_service
from kohort.apis.rolebasedgroup.objects.sets import make_instance_set
from kohort.apis.rolebasedgroup.objects.templates import RoleContext
from kohort.apis.rolebasedgroup.revision import (
    hash_roles,
    hash_set,
    make_group_revision,
    make_set_revision,
)
from kohort.apis.rolebasedgroup.spec import read_spec
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    DEFINITION,
    NAMESPACE,
    POD,
    SERVICE,
)
from kohort.cluster.objects import Kind, Object, name_of, namespace_of
from recorded_groups import examples, needs_recording

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SERVED = {kind.name: kind for kind in (labels.KIND, labels.SET_KIND, labels.POLICY, labels.PROFILE)}
ALL = [(source, obj) for source, obj in examples() if obj.get("kind") in SERVED]
MADE = {kind.name: kind for kind in (labels.INSTANCE_SET, labels.INSTANCE, labels.ADAPTER)}
MADE |= {kind.name: kind for kind in (POD, SERVICE, CONFIG_MAP)}
MADE |= {kind.name: kind for kind in (CONTROLLER_REVISION, labels.POLICY)}
EACH = pytest.mark.parametrize(
    ("source", "obj"), ALL, ids=[f"{source}-{name_of(obj)}" for source, obj in ALL]
)


@pytest.fixture
async def cluster() -> AsyncIterator[InProcessCluster]:
    api = ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1))
    cluster = InProcessCluster(api)
    await cluster.create(NAMESPACE, "", {"metadata": {"name": "default"}})
    for define in DEFINITIONS:
        await cluster.create(DEFINITION, "", define())
    yield cluster


async def store(cluster: InProcessCluster, obj: Object) -> Object:
    """An example as a server keeps it, in v1alpha2."""
    made = deepcopy(obj)
    if made["apiVersion"].endswith("/v1alpha1"):
        made = convert(made, "v1alpha2")
    kind: Kind = SERVED[made["kind"]]
    namespace = "default" if kind.namespaced else ""
    if kind.namespaced:
        made["metadata"]["namespace"] = namespace
    return await cluster.create(kind, namespace, made)


def render(group: Object, profiles: dict[str, Object]) -> Iterator[Object]:
    """All objects of a group."""
    spec, hashes = read_spec(group), hash_roles(group)
    contexts = [RoleContext(group, spec, role, profiles) for role in spec.roles]
    yield make_group_revision(group, 1)
    config, policy = make_config_map(group, contexts), make_policy(group)
    yield from [made for made in (config, policy) if made]
    for context in contexts:
        yield from _render_role(context, hashes[context.role.name])


def _render_role(context: RoleContext, role_hash: str) -> Iterator[Object]:
    made = make_instance_set(context, role_hash)
    yield made
    made = {**made, "metadata": {**made["metadata"], "uid": "uid-of-set"}}
    yield make_set_revision(made, 1)
    yield make_service(context, made)
    if context.role.adapter.is_enabled:
        yield make_adapter(context)
    for ordinal in range(context.role.replicas):
        instance = make_instance(made, ordinal, f"{name_of(made)}-{hash_set(made)}")
        yield instance
        instance["metadata"]["uid"] = f"uid-of-{ordinal}"
        for place in list_places(instance):
            yield make_pod(instance, place, hash_set(made))


PROFILES = {name_of(obj): obj for _, obj in ALL if obj["kind"] == labels.PROFILE.name}


@needs_recording
@EACH
async def test_every_example_is_taken_validated_and_rendered(
    cluster: InProcessCluster, source: str, obj: Object
):
    stored = await store(cluster, obj)
    group = stored
    if stored["kind"] == labels.POLICY.name:
        assert validate_policy(stored) == [] and make_rules(stored)
        return
    if stored["kind"] == labels.PROFILE.name:
        return
    if stored["kind"] == labels.SET_KIND.name:
        assert validate_group_set(stored) == []
        group = {
            **as_group(stored),
            "apiVersion": labels.KIND.api_version,
            "kind": "RoleBasedGroup",
        }
        group["metadata"] |= {"namespace": "default", "uid": "u"}
    assert validate_group(group) == []
    assert read_spec(group).all_problems == ()
    for made in render(group, PROFILES):
        assert namespace_of(made) == "default"
        await cluster.dry_run_create(MADE[made["kind"]], "default", made)


@needs_recording
@EACH
def test_every_example_has_the_shape_of_its_version(source: str, obj: Object):
    define = {define()["spec"]["names"]["kind"]: define for define in DEFINITIONS}[obj["kind"]]
    shape = Shape(define(), obj["apiVersion"].partition("/")[2])
    assert shape.find_misfit(obj) == ""


@needs_recording
def test_no_example_is_left_out():
    kinds = {kind: sum(obj["kind"] == kind for _, obj in ALL) for kind in SERVED}
    assert kinds[labels.KIND.name] >= 40 and kinds[labels.SET_KIND.name] >= 4
    assert kinds[labels.POLICY.name] >= 2 and kinds[labels.PROFILE.name] >= 2
