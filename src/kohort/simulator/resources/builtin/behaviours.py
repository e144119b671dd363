"""
The behaviours of the built-in kinds, by group and plural.

A feature gate changes a behaviour, never a row: what a gate would drop is
dropped here, so the rest of the server does not know of gates.
"""

from kohort.cluster.objects import Object
from kohort.simulator.resources import prepare, selectable
from kohort.simulator.resources.builtin.events import default_event, default_new_event
from kohort.simulator.resources.defaults import network, pods, settings, volumes, workloads
from kohort.simulator.resources.resource import Behaviour

# Lets a StatefulSet have several pods down in an update; kube-apiserver 1.36 has it off.
MAX_UNAVAILABLE_STATEFUL_SET = "MaxUnavailableStatefulSet"


def builtin_behaviours(gates: frozenset[str] = frozenset()) -> dict[str, Behaviour]:
    """How objects of each built-in kind are written, with these feature gates on."""
    return {**_core(), **_apps(gates), **_rest()}


def _warn_of_endpoints(endpoints: Object, old: Object | None) -> list[str]:
    return ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"]


def _core() -> dict[str, Behaviour]:
    return {
        "pods": Behaviour(
            default=pods.default_pod,
            prepare_create=prepare.prepare_pod,
            prepare_update=prepare.prepare_pod_update,
            prepare_status=prepare.prepare_pod_status,
            fields=selectable.pod_fields,
        ),
        "namespaces": Behaviour(
            default=settings.default_namespace,
            prepare_create=prepare.prepare_namespace,
            prepare_update=prepare.prepare_namespace_update,
            prepare_status=prepare.keep_spec,
            fields=selectable.namespace_fields,
        ),
        # A kubelet registers its node with a status, so a create keeps it.
        "nodes": Behaviour(
            default=settings.default_node,
            prepare_update=prepare.keep_status,
            prepare_status=prepare.keep_spec,
            fields=selectable.node_fields,
        ),
        "services": Behaviour(
            default=network.default_service,
            prepare_create=prepare.start_status(network.default_service),
            prepare_update=prepare.prepare_service_update,
            prepare_status=prepare.keep_spec,
            fields=selectable.service_fields,
        ),
        "endpoints": Behaviour(default=network.default_endpoints, warn=_warn_of_endpoints),
        "configmaps": Behaviour(),
        "secrets": Behaviour(default=settings.default_secret, fields=selectable.secret_fields),
        "serviceaccounts": Behaviour(),
        "persistentvolumeclaims": Behaviour(
            default=volumes.default_claim,
            prepare_create=prepare.start_status(volumes.default_claim),
            prepare_update=prepare.keep_status,
            prepare_status=prepare.keep_spec,
        ),
        "persistentvolumes": Behaviour(
            default=volumes.default_persistent_volume,
            prepare_create=prepare.prepare_persistent_volume,
            prepare_update=prepare.keep_status,
            prepare_status=prepare.keep_spec,
        ),
        "events": Behaviour(default=default_event, fields=selectable.event_fields),
    }


def _apps(gates: frozenset[str]) -> dict[str, Behaviour]:
    default_stateful_set = (
        workloads.default_stateful_set_with_max_unavailable
        if MAX_UNAVAILABLE_STATEFUL_SET in gates
        else workloads.default_stateful_set_without_max_unavailable
    )
    return {
        "statefulsets.apps": Behaviour(
            default=default_stateful_set,
            prepare_create=prepare.start_status(default_stateful_set),
            prepare_update=prepare.keep_status,
            prepare_status=prepare.keep_spec,
        ),
        "deployments.apps": Behaviour(
            default=workloads.default_deployment,
            prepare_create=prepare.start_status(workloads.default_deployment),
            prepare_update=prepare.keep_status,
            prepare_status=prepare.keep_spec_and_labels,
        ),
        "replicasets.apps": Behaviour(
            default=workloads.default_replica_set,
            prepare_create=prepare.start_status(workloads.default_replica_set),
            prepare_update=prepare.keep_status,
            prepare_status=prepare.keep_spec,
        ),
        "controllerrevisions.apps": Behaviour(default=workloads.default_revision),
        "poddisruptionbudgets.policy": Behaviour(
            default=workloads.default_budget,
            prepare_create=prepare.start_status(workloads.default_budget),
            prepare_update=prepare.keep_status,
            prepare_status=prepare.keep_spec,
        ),
    }


def _rest() -> dict[str, Behaviour]:
    rbac = "rbac.authorization.k8s.io"
    admission = "admissionregistration.k8s.io"
    return {
        "events.events.k8s.io": Behaviour(
            default=default_new_event, fields=selectable.new_event_fields
        ),
        "endpointslices.discovery.k8s.io": Behaviour(default=network.default_endpoint_slice),
        "storageclasses.storage.k8s.io": Behaviour(default=volumes.default_storage_class),
        "leases.coordination.k8s.io": Behaviour(default=settings.default_lease),
        "priorityclasses.scheduling.k8s.io": Behaviour(default=settings.default_priority_class),
        f"roles.{rbac}": Behaviour(default=settings.default_role),
        f"clusterroles.{rbac}": Behaviour(default=settings.default_role),
        f"rolebindings.{rbac}": Behaviour(default=settings.default_binding),
        f"clusterrolebindings.{rbac}": Behaviour(default=settings.default_binding),
        f"mutatingwebhookconfigurations.{admission}": Behaviour(
            default=settings.default_mutating_webhooks
        ),
        f"validatingwebhookconfigurations.{admission}": Behaviour(
            default=settings.default_validating_webhooks
        ),
    }
