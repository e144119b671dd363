"""
The behaviours of the built-in kinds, by group and plural.

A feature gate changes a behaviour, never a row: what a gate would drop is
dropped here, so the rest of the server does not know of gates.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object
from kohort.simulator import kinds
from kohort.simulator.resources import prepare, selectable, warnings
from kohort.simulator.resources.builtin.events import default_event, default_new_event
from kohort.simulator.resources.builtin.rows import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from kohort.simulator.resources.defaults import (
    autoscalers,
    jobs,
    network,
    pods,
    settings,
    volumes,
    workloads,
)
from kohort.simulator.resources.resource import Behaviour
from kohort.simulator.resources.validation import access, cluster, policies, storage, webhooks
from kohort.simulator.resources.validation import autoscalers as scaling
from kohort.simulator.resources.validation import jobs as runs
from kohort.simulator.resources.validation import network as services
from kohort.simulator.resources.validation import settings as data
from kohort.simulator.resources.validation import workloads as owners
from kohort.simulator.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.simulator.resources.validation.pods import updates as pod_updates
from kohort.simulator.resources.validation.workloads import validate_plain_status as plain
from kohort.simulator.schemas.definition import (
    default_definition,
    validate_definition,
    warnings_of,
)

Validate = Callable[[Object, Object | None], list[FieldError]]

# Lets a StatefulSet have several pods down in an update; kube-apiserver 1.36 has it off.
MAX_UNAVAILABLE_STATEFUL_SET = "MaxUnavailableStatefulSet"


def builtin_behaviours(gates: frozenset[str] = frozenset()) -> dict[str, Behaviour]:
    """How objects of each built-in kind are written, with these feature gates on."""
    return {**_core(), **_data(), **_apps(gates), **_batch(), **_limits(), **_rest()}


def _any_name(name: str) -> tuple[str, ...]:
    """Names of definitions are checked with the group and the plural that they are made of."""
    return ()


def _validate_definition(definition: Object, old: Object | None) -> list[FieldError]:
    if old is None:
        faults = validate_metadata(definition, kinds.DEFINITION, _any_name)
    else:
        faults = validate_metadata_update(definition, old)
    return faults + validate_definition(definition, old, _validate_client)


def _validate_client(client: Object, path: str) -> list[FieldError]:
    """Where a conversion webhook is; a real server takes name and namespace for each other."""
    service: Object | None = client.get("service")
    if service is not None:
        swapped = {"name": service.get("namespace"), "namespace": service.get("name")}
        client = {**client, "service": {**service, **swapped}}
    return webhooks.validate_client(client, path)


def _reported(
    validate: Validate,
    default: Callable[[Object], None],
    validate_status: Validate = plain,
    **more: Any,
) -> Behaviour:
    """A kind with a status of its own: fresh when made, kept by updates, written by itself."""
    usual = Behaviour(
        validate=validate,
        validate_status=validate_status,
        default=default,
        prepare_create=prepare.start_status(default),
        prepare_update=prepare.keep_status,
        prepare_status=prepare.keep_spec,
    )
    return replace(usual, **more)


def _core() -> dict[str, Behaviour]:
    return {
        "pods": Behaviour(
            warn=warnings.warn_of_pod,
            validate=pod_updates.validate_pod,
            validate_status=pod_updates.validate_pod_status,
            default=pods.default_pod,
            prepare_create=prepare.prepare_pod,
            prepare_update=prepare.prepare_pod_update,
            prepare_status=prepare.prepare_pod_status,
            fields=selectable.pod_fields,
        ),
        "namespaces": Behaviour(
            validate=cluster.validate_namespace,
            validate_status=plain,
            default=settings.default_namespace,
            prepare_create=prepare.prepare_namespace,
            prepare_update=prepare.prepare_namespace_update,
            prepare_status=prepare.keep_spec,
            fields=selectable.namespace_fields,
        ),
        # A kubelet registers its node with a status, so a create keeps it.
        "nodes": Behaviour(
            validate=cluster.validate_node,
            validate_status=plain,
            default=settings.default_node,
            prepare_update=prepare.keep_status,
            prepare_status=prepare.keep_spec,
            fields=selectable.node_fields,
        ),
        "services": Behaviour(
            warn=warnings.warn_of_service,
            validate=services.validate_service,
            validate_status=plain,
            default=network.default_service,
            prepare_create=prepare.prepare_service,
            prepare_update=prepare.prepare_service_update,
            prepare_status=prepare.keep_spec,
            fields=selectable.service_fields,
        ),
    }


def _data() -> dict[str, Behaviour]:
    return {
        "endpoints": Behaviour(
            validate=services.validate_endpoints,
            default=network.default_endpoints,
        ),
        "configmaps": Behaviour(
            validate=data.validate_config_map,
        ),
        "secrets": Behaviour(
            validate=data.validate_secret,
            default=settings.default_secret,
            fields=selectable.secret_fields,
        ),
        "serviceaccounts": Behaviour(
            validate=cluster.validate_account,
        ),
        "persistentvolumeclaims": _reported(
            storage.validate_claim, volumes.default_claim, warn=warnings.warn_of_claim
        ),
        "persistentvolumes": _reported(
            storage.validate_persistent_volume,
            volumes.default_persistent_volume,
            warn=warnings.warn_of_volume,
            prepare_create=prepare.prepare_persistent_volume,
        ),
        "events": Behaviour(
            validate=cluster.validate_event, default=default_event, fields=selectable.event_fields
        ),
    }


def _apps(gates: frozenset[str]) -> dict[str, Behaviour]:
    default_stateful_set = (
        workloads.default_stateful_set_with_max_unavailable
        if MAX_UNAVAILABLE_STATEFUL_SET in gates
        else workloads.default_stateful_set_without_max_unavailable
    )
    return {
        "statefulsets.apps": _reported(
            owners.validate_stateful_set,
            default_stateful_set,
            owners.counts(
                "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"
            ),
            warn=warnings.warn_of_workload,
        ),
        "deployments.apps": _reported(
            owners.validate_deployment,
            workloads.default_deployment,
            owners.counts("updatedReplicas", "readyReplicas", "availableReplicas"),
            warn=warnings.warn_of_workload,
            prepare_update=prepare.prepare_deployment_update,
            prepare_status=prepare.keep_spec_and_labels,
        ),
        "replicasets.apps": _reported(
            owners.validate_replica_set,
            workloads.default_replica_set,
            owners.counts("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
            warn=warnings.warn_of_workload,
        ),
        "controllerrevisions.apps": Behaviour(
            validate=owners.validate_revision, default=workloads.default_revision
        ),
        "poddisruptionbudgets.policy": _reported(owners.validate_budget, workloads.default_budget),
    }


def _batch() -> dict[str, Behaviour]:
    return {
        "jobs.batch": _reported(
            runs.validate_job,
            jobs.default_job,
            warn=warnings.warn_of_workload,
            prepare_create=jobs.prepare_job,
            fields=selectable.job_fields,
        ),
        "cronjobs.batch": _reported(runs.validate_cron_job, jobs.default_cron_job),
        "daemonsets.apps": _reported(
            owners.validate_daemon_set,
            workloads.default_daemon_set,
            warn=warnings.warn_of_workload,
            prepare_create=workloads.prepare_daemon_set,
        ),
        "replicationcontrollers": _reported(
            owners.validate_replication_controller,
            workloads.default_replication_controller,
            warn=warnings.warn_of_workload,
            fields=selectable.replication_controller_fields,
        ),
    }


def _limits() -> dict[str, Behaviour]:
    networking = "networking.k8s.io"
    return {
        "horizontalpodautoscalers.autoscaling": _reported(
            scaling.validate_autoscaler,
            autoscalers.default_autoscaler,
            scaling.validate_autoscaler_status,
        ),
        "resourcequotas": _reported(policies.validate_quota, settings.default_quota),
        "limitranges": Behaviour(
            validate=policies.validate_limit_range, default=settings.default_limit_range
        ),
        f"ingresses.{networking}": _reported(policies.validate_ingress, network.default_ingress),
        f"ingressclasses.{networking}": Behaviour(
            validate=policies.validate_only_metadata(kinds.INGRESS_CLASS),
            default=network.default_ingress_class,
        ),
        f"networkpolicies.{networking}": Behaviour(
            validate=policies.validate_network_policy, default=network.default_network_policy
        ),
    }


def _rest() -> dict[str, Behaviour]:
    rbac = "rbac.authorization.k8s.io"
    admission = "admissionregistration.k8s.io"
    return {
        "customresourcedefinitions.apiextensions.k8s.io": _reported(
            _validate_definition,
            default_definition,
            prepare_create=prepare.prepare_definition,
            warn=warnings_of,
        ),
        "events.events.k8s.io": Behaviour(
            validate=cluster.validate_new_event,
            default=default_new_event,
            fields=selectable.event_fields,
        ),
        "endpointslices.discovery.k8s.io": Behaviour(
            validate=services.validate_endpoint_slice,
            default=network.default_endpoint_slice,
            prepare_update=prepare.prepare_slice_update,
        ),
        "storageclasses.storage.k8s.io": Behaviour(
            validate=storage.validate_storage_class, default=volumes.default_storage_class
        ),
        "leases.coordination.k8s.io": Behaviour(
            validate=data.validate_lease, default=settings.default_lease
        ),
        "priorityclasses.scheduling.k8s.io": Behaviour(
            validate=data.validate_priority_class,
            default=settings.default_priority_class,
            prepare_create=prepare.prepare_priority_class,
        ),
        f"roles.{rbac}": Behaviour(
            validate=access.roles_of(access.ROLE), default=settings.default_role
        ),
        f"clusterroles.{rbac}": Behaviour(
            validate=access.roles_of(access.CLUSTER_ROLE), default=settings.default_role
        ),
        f"rolebindings.{rbac}": Behaviour(
            validate=access.bindings_of(access.ROLE_BINDING), default=settings.default_binding
        ),
        f"clusterrolebindings.{rbac}": Behaviour(
            validate=access.bindings_of(access.CLUSTER_ROLE_BINDING),
            default=settings.default_binding,
        ),
        f"mutatingwebhookconfigurations.{admission}": Behaviour(
            validate=webhooks.webhooks_of(MUTATING_WEBHOOKS),
            default=settings.default_mutating_webhooks,
        ),
        f"validatingwebhookconfigurations.{admission}": Behaviour(
            validate=webhooks.webhooks_of(VALIDATING_WEBHOOKS),
            default=settings.default_validating_webhooks,
        ),
    }
