"""
The home of an API: where its upstream controller lives, and by which names a cluster knows it.

Two operators on one cluster must meet each other instead of passing by: so leases, webhook
configurations and event reporters bear upstream's names and lie where upstream keeps them.
An API without an upstream lives at a home of our own.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Home:
    """Where the controller of an API lives upstream."""

    namespace: str = "kohort-system"
    lease: str = "kohort-controller-manager"  # its name; it lies in the namespace
    prefix: str = "kohort"  # of the names of the controller's own objects
    reporter: str = "kohort"  # of events
    field_manager: str = "kohort"
    configuration: str = "config.kohort.dev/v1alpha1"  # apiVersion of the configuration file
    # Names of the webhook configurations, where they do not follow from the prefix.
    mutating: str = ""
    validating: str = ""

    @property
    def mutating_name(self) -> str:
        """The name of the configuration of webhooks that change objects."""
        return self.mutating or f"{self.prefix}-mutating-webhook-configuration"

    @property
    def validating_name(self) -> str:
        """The name of the configuration of webhooks that judge objects."""
        return self.validating or f"{self.prefix}-validating-webhook-configuration"


OWN_HOME = Home()
_HOLDER = "_kohort-"


def name_holder(host: str, unique: str) -> str:
    """Who holds a lease: a process of Kohort says so, since its pod may bear upstream's name."""
    return f"{host}{_HOLDER}{unique}"


def is_own_holder(holder: str) -> bool:
    """Whether a process of Kohort holds a lease."""
    return _HOLDER in holder


@dataclass(frozen=True, slots=True)
class UnservedKind:
    """A kind that comes with an upstream controller, and that Kohort does not serve."""

    definition: str  # the name of its CustomResourceDefinition
    flag: str  # what a user says who installs all the same
