"""What a cluster needs before the operator can work on it, made and brought there."""

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
