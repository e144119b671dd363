"""
Koordinator's kinds: its PodGroup, and the layers of the network.

Names and limits are upstream's and never change. Its PodGroup is that of the scheduler
plugins before they moved it to another group, and has no status subresource.
"""

from typing import Annotated

from kohort.apis.definitions import Definition
from kohort.apis.definitions.fields import Int32, Model, Time, about
from kohort.apis.gangs.definitions.fields import Amounts
from kohort.cluster.objects import Kind

POD_GROUP = Kind("scheduling.sigs.k8s.io", "v1alpha1", "PodGroup", "podgroups")
NETWORK_TOPOLOGY = Kind(
    "scheduling.koordinator.sh",
    "v1alpha1",
    "ClusterNetworkTopology",
    "clusternetworktopologies",
    namespaced=False,
)

Count = Annotated[Int32 | None, about("Pods.")]


class PodGroupSpec(Model):
    """The desired state of a PodGroup."""

    min_member: Annotated[Int32 | None, about("Pods that start together.")] = None
    min_resources: Annotated[
        Amounts | None, about("Resources that the cluster must have before any pod is tried.")
    ] = None
    schedule_timeout_seconds: Annotated[
        Int32 | None, about("How long pods that have a place wait for the others.")
    ] = None


class PodGroupStatus(Model):
    """The observed state of a PodGroup."""

    failed: Count = None
    occupied_by: Annotated[str | None, about("Whose pods it holds.")] = None
    phase: Annotated[str | None, about("How far it is.")] = None
    running: Count = None
    schedule_start_time: Annotated[Time | None, about("When it was first tried.")] = None
    scheduled: Count = None
    succeeded: Count = None


class Layer(Model):
    """One width of domains."""

    topology_layer: Annotated[str, about("Its name.")]
    label_key: Annotated[
        list[str] | None, about("Node labels whose values tell its domains apart.")
    ] = None
    parent_topology_layer: Annotated[str | None, about("The next wider layer.")] = None


class NetworkTopologySpec(Model):
    """The desired state of a NetworkTopology."""

    network_topology_spec: Annotated[list[Layer], about("The layers.")]


class TopologyName(Model):
    """One domain."""

    topology_layer: Annotated[str, about("Its layer.")]
    topology_name: Annotated[str, about("Its name.")]


class DomainStatus(Model):
    """The nodes of one domain, and its place in the tree."""

    node_num: Annotated[Int32, about("Nodes.")]
    topology_info: Annotated[TopologyName, about("The domain.")]
    child_topology_layer: Annotated[str | None, about("The next narrower layer.")] = None
    child_topology_names: Annotated[list[str] | None, about("The domains in it.")] = None
    parent_topology_info: Annotated[TopologyName | None, about("The domain that it is in.")] = None


class NetworkTopologyStatus(Model):
    """The observed state of a NetworkTopology."""

    detail_status: Annotated[list[DomainStatus] | None, about("The domains.")] = None


POD_GROUPS = Definition(
    kind=POD_GROUP,
    short_names=(),
    description="Pods that Koordinator starts together, or not at all.",
    spec=PodGroupSpec,
    status=PodGroupStatus,
    columns=(),
    categories=(),
    annotations={
        "api-approved.kubernetes.io": (
            "https://github.com/kubernetes-sigs/scheduler-plugins/pull/52"
        )
    },
    is_status_apart=False,
)
NETWORK_TOPOLOGIES = Definition(
    kind=NETWORK_TOPOLOGY,
    short_names=(),
    description="The layers of the network, by node labels.",
    spec=NetworkTopologySpec,
    status=NetworkTopologyStatus,
    columns=(),
    categories=(),
)
