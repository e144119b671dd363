"""
Stand-ins for Kubernetes' own gangs, for a server that does not have them built in.

They hold what a gang needs, no more: claims that a group shares are left out. The spec is
immutable, as upstream's. The API server demands an api-approved annotation for each CRD in a
group of Kubernetes; it says that these are not approved as part of Kubernetes.
"""

from typing import Annotated, Literal

from kohort.apis.definitions import Column, Definition, write_definition
from kohort.apis.definitions.definition import AGE
from kohort.apis.definitions.fields import Conditions, Int32, Model, about, keyed_by
from kohort.apis.gangs.definitions.fields import Atomic, words
from kohort.cluster.objects import Kind, Object

POD_GROUP = Kind("scheduling.k8s.io", "v1alpha2", "PodGroup", "podgroups")
WORKLOAD = Kind("scheduling.k8s.io", "v1alpha2", "Workload", "workloads")

_UNAPPROVED = {"api-approved.kubernetes.io": "unapproved, a stand-in for the built-in kind"}


class BasicPolicy(Model):
    """Pods one by one."""


class GangPolicy(Model):
    """Pods together, or not at all."""

    min_count: Annotated[Int32, about("Pods that start together.", ge=1)]


class SchedulingPolicy(Model):
    """Whether pods start together."""

    basic: Annotated[BasicPolicy | None, about("They need not.")] = None
    gang: Annotated[GangPolicy | None, about("They do.")] = None


class TopologyConstraint(Model):
    """All pods on nodes with one value of a label."""

    key: Annotated[str, about("The node label.")]


class SchedulingConstraints(Model):
    """Where the pods of a group go."""

    topology: Annotated[
        list[TopologyConstraint] | None,
        Atomic,
        words(maxItems=1),
        about("How near to each other they stand."),
    ] = None


class TemplateReferenceOfWorkload(Model):
    """A template in a Workload."""

    pod_group_template_name: Annotated[str, about("The template.")]
    workload_name: Annotated[str, about("The Workload.")]


class TemplateReference(Model):
    """The template that a group was made from."""

    workload: Annotated[TemplateReferenceOfWorkload | None, about("A template in a Workload.")] = (
        None
    )


class PodGroupSpec(Model):
    """The desired state of a PodGroup. It cannot be changed."""

    scheduling_policy: Annotated[SchedulingPolicy, about("Whether its pods start together.")]
    disruption_mode: Annotated[
        Literal["Pod", "PodGroup"] | None,
        about("Whether pods are taken away one by one, or the group as a whole."),
    ] = None
    pod_group_template_ref: Annotated[
        TemplateReference | None, about("The template that it was made from.")
    ] = None
    priority: Annotated[Int32 | None, about("The group's priority as a number.")] = None
    priority_class_name: Annotated[str | None, about("The group's priority.")] = None
    scheduling_constraints: Annotated[SchedulingConstraints | None, about("Where its pods go.")] = (
        None
    )


class PodGroupStatus(Model):
    """The observed state of a PodGroup."""

    conditions: Annotated[Conditions | None, about("PodGroupScheduled, DisruptionTarget.")] = None


class PodGroupTemplate(Model):
    """The template of a PodGroup."""

    name: Annotated[str, about("The name.")]
    scheduling_policy: Annotated[SchedulingPolicy, about("Whether pods start together.")]
    disruption_mode: Annotated[
        Literal["Pod", "PodGroup"] | None,
        about("Whether pods are taken away one by one, or the group as a whole."),
    ] = None
    priority: Annotated[Int32 | None, about("A group's priority as a number.")] = None
    priority_class_name: Annotated[str | None, about("A group's priority.")] = None
    scheduling_constraints: Annotated[SchedulingConstraints | None, about("Where pods go.")] = None


class Controller(Model):
    """The object that owns the pods of the workload."""

    kind: Annotated[str, about("Its kind.")]
    name: Annotated[str, about("Its name.")]
    api_group: Annotated[str | None, about("The group of its kind.")] = None


class WorkloadSpec(Model):
    """The desired state of a Workload. It cannot be changed."""

    pod_group_templates: Annotated[
        list[PodGroupTemplate],
        keyed_by("name"),
        words(maxItems=8),
        about("What its groups are made from."),
    ]
    controller_ref: Annotated[Controller | None, about("Whose pods they are.")] = None


_POD_GROUPS = Definition(
    kind=POD_GROUP,
    short_names=(),
    description="Pods that start together, or not at all.",
    spec=PodGroupSpec,
    status=PodGroupStatus,
    columns=(
        Column("Workload", ".spec.podGroupTemplateRef.workload.workloadName"),
        Column("Status", '.status.conditions[?(@.type=="PodGroupScheduled")].reason'),
        AGE,
    ),
    categories=(),
    annotations=_UNAPPROVED,
    is_spec_required=True,
)
_WORKLOADS = Definition(
    kind=WORKLOAD,
    short_names=(),
    description="What groups of pods are made from.",
    spec=WorkloadSpec,
    status=None,
    columns=(AGE,),
    categories=(),
    annotations=_UNAPPROVED,
    is_status_apart=False,
    is_spec_required=True,
)


def define_stand_ins() -> tuple[Object, ...]:
    """PodGroup and Workload, with immutable specs."""
    return tuple(_freeze(write_definition(each)) for each in (_POD_GROUPS, _WORKLOADS))


def _freeze(crd: Object) -> Object:
    rule = {"rule": "self == oldSelf", "message": "field is immutable"}
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["x-kubernetes-validations"] = [rule]
    return crd
