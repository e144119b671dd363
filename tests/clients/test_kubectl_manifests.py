"""What ``kohort manifests`` prints, in the hands of real kubectl."""

import pytest

from client_tools import Tool
from kohort.apis.served import APIS
from kohort.cli.documents import write_documents
from kohort.controller.install import ManifestOptions, write_manifests

pytestmark = pytest.mark.clients


def test_kubectl_applies_the_manifests_to_our_server(kubectl: Tool, tmp_path):
    objects = write_manifests(APIS, ManifestOptions("default", "kohort:1"))
    # A dry run makes no namespace, and what lies in one asks for it.
    homes = [obj for obj in objects if obj["kind"] == "Namespace"]
    kubectl("apply", "--server-side", "-f", "-", stdin=write_documents(homes, "yaml"))
    path = tmp_path / "manifests.yaml"
    path.write_text(write_documents(objects, "yaml"))
    told = kubectl("apply", "--server-side", "--dry-run=server", "-f", path).stdout
    assert len(told.splitlines()) == len(objects)
    assert "deployment.apps/lws-controller-manager serverside-applied (server dry run)" in told
