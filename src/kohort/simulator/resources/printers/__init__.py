"""
The printers of the built-in kinds, by resource and group.

A kind that is not here is printed by ``Printer()``: its name and when it was
created, as a real server does. Custom resources are printed by
``custom.custom_printer``, from their definition.
"""

from collections.abc import Mapping

from kohort.simulator.resources.printers import jobs, network, policies, storage, workloads
from kohort.simulator.resources.printers.custom import custom_printer
from kohort.simulator.resources.printers.events import EVENTS
from kohort.simulator.resources.printers.nodes import NODES
from kohort.simulator.resources.printers.pods import PODS
from kohort.simulator.resources.printers.tables import Column, Printer

__all__ = ["COLUMNS", "Column", "Printer", "custom_printer"]

COLUMNS: Mapping[str, Printer] = {
    "configmaps": policies.CONFIG_MAPS,
    "endpoints": network.ENDPOINTS,
    "events": EVENTS,
    "namespaces": policies.NAMESPACES,
    "nodes": NODES,
    "persistentvolumeclaims": storage.PERSISTENT_VOLUME_CLAIMS,
    "persistentvolumes": storage.PERSISTENT_VOLUMES,
    "pods": PODS,
    "secrets": policies.SECRETS,
    "serviceaccounts": policies.SERVICE_ACCOUNTS,
    "services": network.SERVICES,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": policies.WEBHOOK_CONFIGURATIONS,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": policies.WEBHOOK_CONFIGURATIONS,
    "customresourcedefinitions.apiextensions.k8s.io": Printer(),
    "controllerrevisions.apps": workloads.CONTROLLER_REVISIONS,
    "daemonsets.apps": workloads.DAEMON_SETS,
    "deployments.apps": workloads.DEPLOYMENTS,
    "replicasets.apps": workloads.REPLICA_SETS,
    "statefulsets.apps": workloads.STATEFUL_SETS,
    "horizontalpodautoscalers.autoscaling": jobs.AUTOSCALERS,
    "cronjobs.batch": jobs.CRON_JOBS,
    "jobs.batch": jobs.JOBS,
    "replicationcontrollers": workloads.REPLICATION_CONTROLLERS,
    "resourcequotas": policies.RESOURCE_QUOTAS,
    "limitranges": Printer(),
    "ingresses.networking.k8s.io": network.INGRESSES,
    "ingressclasses.networking.k8s.io": network.INGRESS_CLASSES,
    "networkpolicies.networking.k8s.io": network.NETWORK_POLICIES,
    "leases.coordination.k8s.io": policies.LEASES,
    "endpointslices.discovery.k8s.io": network.ENDPOINT_SLICES,
    "events.events.k8s.io": EVENTS,
    "poddisruptionbudgets.policy": workloads.POD_DISRUPTION_BUDGETS,
    "clusterrolebindings.rbac.authorization.k8s.io": policies.ROLE_BINDINGS,
    "clusterroles.rbac.authorization.k8s.io": Printer(),
    "rolebindings.rbac.authorization.k8s.io": policies.ROLE_BINDINGS,
    "roles.rbac.authorization.k8s.io": Printer(),
    "priorityclasses.scheduling.k8s.io": policies.PRIORITY_CLASSES,
    "storageclasses.storage.k8s.io": storage.STORAGE_CLASSES,
}
