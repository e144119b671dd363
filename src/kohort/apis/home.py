"""
The home of an API: the namespace and the names that its upstream controller uses.

Two operators on one cluster must notice each other: so our leases, webhook configurations
and event reporters have upstream's names and namespace. An API without an upstream has
names of our own.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Home:
    """The namespace and names of the upstream controller of an API."""

    namespace: str = "kohort-system"
    lease: str = "kohort-controller-manager"  # its name; it lies in the namespace
    prefix: str = "kohort"  # of the names of the controller's own objects
    reporter: str = "kohort"  # of events
    field_manager: str = "kohort"
    configuration: str = "config.kohort.dev/v1alpha1"  # apiVersion of the configuration file
    # Names of the webhook configurations, where they do not follow from the prefix.
    mutating: str = ""
    validating: str = ""
    deployment: str = ""  # of the controller, where its name does not follow from the prefix

    @property
    def mutating_name(self) -> str:
        """The name of the MutatingWebhookConfiguration."""
        return self.mutating or f"{self.prefix}-mutating-webhook-configuration"

    @property
    def validating_name(self) -> str:
        """The name of the ValidatingWebhookConfiguration."""
        return self.validating or f"{self.prefix}-validating-webhook-configuration"

    @property
    def deployment_name(self) -> str:
        """The name of the Deployment in which the controller runs."""
        return self.deployment or f"{self.prefix}-controller-manager"


OWN_HOME = Home()
_HOLDER = "_kohort-"


def name_holder(host: str, unique: str) -> str:
    """The holder identity of a lease, marked as Kohort's: its pod may have upstream's name."""
    return f"{host}{_HOLDER}{unique}"


def is_own_holder(holder: str) -> bool:
    """Whether a process of Kohort holds the lease with this holder identity."""
    return _HOLDER in holder


@dataclass(frozen=True, slots=True)
class UnservedKind:
    """A kind of an upstream project that Kohort does not serve."""

    definition: str  # the name of its CustomResourceDefinition
    flag: str  # the flag by which the user installs all the same
