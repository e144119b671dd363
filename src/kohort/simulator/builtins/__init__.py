"""
The built-in controllers of Kubernetes, each as a component, in the order in which they act.

Controllers that create objects come first, then those that follow these objects, and
those that delete come last, so that in one turn each sees what the others did.
"""

from collections.abc import Collection

from kohort.simulator.builtins.autoscalers.controller import Autoscalers
from kohort.simulator.builtins.budgets import Budgets
from kohort.simulator.builtins.deployments.controller import Deployments
from kohort.simulator.builtins.deployments.replicasets import ReplicaSets
from kohort.simulator.builtins.endpoints.controller import EndpointsKeeper
from kohort.simulator.builtins.garbage import GarbageCollector
from kohort.simulator.builtins.jobs.controller import Jobs
from kohort.simulator.builtins.jobs.cron import CronJobs
from kohort.simulator.builtins.namespaces import NamespaceDefaults, NamespaceLifecycle
from kohort.simulator.builtins.quotas import Quotas
from kohort.simulator.builtins.statefulsets.controller import StatefulSets
from kohort.simulator.builtins.volumes import Volumes
from kohort.simulator.component import Component

MAX_UNAVAILABLE_GATE = "MaxUnavailableStatefulSet"


def builtin_parts(certificate: str = "", gates: Collection[str] = ()) -> list[Component]:
    """
    The components of a controller manager.

    Namespaces get the certificate as ``kube-root-ca.crt``. Gates are the names of feature gates.
    Components with ``watch_kinds`` look at every kind; the caller tells them the kinds, again
    whenever kinds come or go.
    """
    return [
        NamespaceDefaults(certificate),
        Autoscalers(),
        StatefulSets(honours_max_unavailable=MAX_UNAVAILABLE_GATE in gates),
        Deployments(),
        ReplicaSets(),
        CronJobs(),
        Jobs(),
        Volumes(),
        EndpointsKeeper(),
        Budgets(),
        Quotas(),
        GarbageCollector(),
        NamespaceLifecycle(),
    ]
