"""The objects that a cluster needs for the operator: manifests, and their installation."""

from kohort.controller.install.install import (
    InstallOptions,
    InstallRefused,
    install,
    install_definitions,
    install_roles,
    install_webhooks,
)
from kohort.controller.install.manifests import ManifestOptions, write_manifests

__all__ = [
    "InstallOptions",
    "InstallRefused",
    "ManifestOptions",
    "install",
    "install_definitions",
    "install_roles",
    "install_webhooks",
    "write_manifests",
]
