"""
The CustomResourceDefinitions of RoleBasedGroup's API group.

The API server stores objects in v1alpha2. Of the four kinds that have v1alpha1 too, two differ in
structure and need conversion; the other two are equal in both versions.
"""

from dataclasses import replace

from kohort.apis.definitions import Column, Definition, ScalePaths, write_definition
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.definition.groups import (
    GroupSetSpec,
    GroupSetStatus,
    GroupSpec,
    GroupStatus,
)
from kohort.apis.rolebasedgroup.definition.instances import (
    InstanceSetSpec,
    InstanceSetStatus,
    InstanceSpec,
    InstanceStatus,
)
from kohort.apis.rolebasedgroup.definition.old_groups import OldGroupSetSpec, OldGroupSpec
from kohort.apis.rolebasedgroup.definition.others import (
    TARGETS,
    AdapterSpec,
    AdapterStatus,
    PolicySpec,
    PolicyStatus,
    ProfileSpec,
    ProfileStatus,
    WarmupSpec,
    WarmupStatus,
)
from kohort.cluster.objects import Object

_AGE = Column("AGE", ".metadata.creationTimestamp", "date")
_READY = ".status.conditions[?(@.type=='{}')].status"


def define_group() -> Object:
    """RoleBasedGroup: the root kind."""
    definition = Definition(
        kind=labels.KIND,
        short_names=("rbg",),
        description="Roles that serve a model together: prefill, decode, router.",
        spec=GroupSpec,
        status=GroupStatus,
        columns=(Column("READY", _READY.format("Ready")), _AGE),
        is_spec_required=True,
    )
    return write_definition(definition, _old(replace(definition, spec=OldGroupSpec)))


def define_group_set() -> Object:
    """RoleBasedGroupSet: several RoleBasedGroups from one template."""
    definition = Definition(
        kind=labels.SET_KIND,
        short_names=("rbgs",),
        description="RoleBasedGroups that are alike.",
        spec=GroupSetSpec,
        status=GroupSetStatus,
        columns=(
            Column("DESIRED", ".status.replicas", description="Groups."),
            Column("READY", ".status.readyReplicas", description="Groups that are ready."),
            _AGE,
        ),
        scale=ScalePaths(),
        is_spec_required=True,
    )
    return write_definition(definition, _old(replace(definition, spec=OldGroupSetSpec)))


def define_instance_set() -> Object:
    """RoleInstanceSet: the instances of one role."""
    columns = (
        Column("DESIRED", ".spec.replicas", "integer", "Instances that are wanted."),
        Column("UPDATED", ".status.updatedReplicas", "integer", "Of the newest revision."),
        Column("UPDATED_READY", ".status.updatedReadyReplicas", "integer", "Of it, that serve."),
        Column("READY", ".status.readyReplicas", "integer", "Instances that serve."),
        Column("TOTAL", ".status.replicas", "integer", "Instances that exist."),
        replace(_AGE, description="Since when it exists."),
        Column("SELECTOR", ".status.labelSelector", description="Its pods.", is_wide=True),
    )
    return write_definition(
        Definition(
            kind=labels.INSTANCE_SET,
            short_names=("ris",),
            description="The instances of one role.",
            spec=InstanceSetSpec,
            status=InstanceSetStatus,
            columns=columns,
            scale=ScalePaths(".status.labelSelector"),
            categories=(),
        )
    )


def define_instance() -> Object:
    """RoleInstance: the pods of one instance, which start and restart together."""
    ready = Column("READY", _READY.format("RoleInstanceReady"), description="Whether it serves.")
    return write_definition(
        Definition(
            kind=labels.INSTANCE,
            short_names=("rins",),
            description="One instance of a role: pods that live and die together.",
            spec=InstanceSpec,
            status=InstanceStatus,
            columns=(ready, replace(_AGE, description="Since when it exists.")),
            categories=(),
        )
    )


def define_adapter() -> Object:
    """RoleBasedGroupScalingAdapter: the scale subresource of one role, for autoscalers."""
    phase = Column("PHASE", ".status.phase", description="Bound, or NotBound.")
    count = Column("REPLICAS", ".status.replicas", "integer", "Instances of the role.")
    ready = Column("READY_REPLICAS", ".status.readyReplicas", "integer", "Those that serve.")
    age = replace(_AGE, description="Since when it exists.")
    definition = Definition(
        kind=labels.ADAPTER,
        short_names=("rbgsa",),
        description="What an autoscaler scales: one role of a RoleBasedGroup.",
        spec=AdapterSpec,
        status=AdapterStatus,
        columns=(phase, count, ready, age),
        scale=ScalePaths(".status.selector"),
        categories=(),
    )
    return write_definition(definition, _old(replace(definition, columns=(phase, count, age))))


def define_policy() -> Object:
    """CoordinatedPolicy: how updates and scaling of a group's roles depend on each other."""
    return write_definition(
        Definition(
            kind=labels.POLICY,
            short_names=("cpolicy",),
            description="Rules over roles of the RoleBasedGroup of the same name.",
            spec=PolicySpec,
            status=PolicyStatus,
            columns=(_AGE,),
            categories=(),
        )
    )


def define_profile() -> Object:
    """ClusterEngineRuntimeProfile: containers that roles inject into their pods."""
    definition = Definition(
        kind=labels.PROFILE,
        short_names=(),
        description="Containers and volumes that roles inject into their pods.",
        spec=ProfileSpec,
        status=ProfileStatus,
        columns=(),
        categories=(),
    )
    return write_definition(definition, _old(definition))


def define_warmup() -> Object:
    """RoleBasedGroupWarmup: pulls images and loads models on nodes ahead of a rollout."""
    made = write_definition(
        Definition(
            kind=labels.WARMUP,
            short_names=("rbgwarmup",),
            description="Images and models that are brought to nodes before a rollout needs them.",
            spec=WarmupSpec,
            status=WarmupStatus,
            columns=(),
            categories=(),
            is_spec_required=True,
        )
    )
    # This CEL rule applies to the whole spec, so no single field of the model can carry it.
    root = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["spec"] |= TARGETS.extra_json_schema or {}
    return made


DEFINITIONS = (
    define_group,
    define_group_set,
    define_instance_set,
    define_instance,
    define_adapter,
    define_policy,
    define_profile,
    define_warmup,
)


def _old(definition: Definition) -> Definition:
    kind = definition.kind
    text = (
        f"{kind.group}/{labels.OLD_VERSION} {kind.name} is deprecated; "
        f"use {kind.group}/{kind.version} {kind.name}"
    )
    return replace(definition, kind=replace(kind, version=labels.OLD_VERSION), deprecation=text)
