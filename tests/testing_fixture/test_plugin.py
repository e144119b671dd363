"""The public fixtures: what other people's tests can count on."""

import math
import os
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from kohort.testing import start_cluster

pytest_plugins = ["pytester"]

ASKS = """
    import json, ssl, urllib.request

    def ask(cluster, path):
        headers = {"Authorization": f"Bearer {cluster.token}"}
        context = ssl.create_default_context(cadata=cluster.ca)
        request = urllib.request.Request(cluster.url + path, headers=headers)
        return json.load(urllib.request.urlopen(request, context=context))
"""


def ask(cluster, path: str, token: str) -> int:
    context = ssl.create_default_context(cadata=cluster.ca)
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(cluster.url + path, headers=headers)
    with urllib.request.urlopen(request, context=context) as answer:
        return int(answer.status)


def test_a_cluster_answers_a_client_with_its_token(kohort_cluster):
    assert ask(kohort_cluster, "/api/v1/nodes", kohort_cluster.token) == 200


def test_a_cluster_refuses_a_client_without_its_token(kohort_cluster):
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(kohort_cluster, "/api/v1/nodes", "guess")
    assert caught.value.code == 401


def test_the_kubeconfig_can_be_read_by_its_owner_only(kohort_cluster):
    assert kohort_cluster.kubeconfig.stat().st_mode & 0o777 == 0o600


def test_two_clusters_run_side_by_side_and_end_with_their_block():
    with start_cluster(nodes=1) as first, start_cluster(nodes=1) as second:
        assert first.url != second.url
        assert first.token != second.token
    assert not first.kubeconfig.exists()
    with pytest.raises(OSError):
        ask(first, "/version", first.token)


@pytest.mark.parametrize(
    "wish",
    [
        {"nodes": -1},
        {"nodes": 2.5},
        {"nodes": "3"},
        {"nodes": 20_001},
        {"gpus_per_node": -1},
        {"gpus_per_node": True},
        {"racks": 0},
        {"racks": 9},
        {"speed": 0},
        {"speed": "10"},
        {"speed": math.nan},
    ],
)
def test_a_cluster_that_cannot_be_is_refused_with_a_sentence(wish):
    (name,) = wish
    with pytest.raises(ValueError, match=rf"^{name} must be .*, not "), start_cluster(**wish):
        pass


def test_another_projects_tests_get_a_cluster_of_the_size_they_ask_for(pytester: pytest.Pytester):
    pytester.makeini("[pytest]\nkohort_nodes = 3")
    pytester.makepyfile(
        ASKS
        + """
    def test_size(kohort_cluster):
        assert len(ask(kohort_cluster, "/api/v1/nodes")["items"]) == 3
    """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_each_test_gets_a_namespace_of_its_own_that_goes_with_it(pytester: pytest.Pytester):
    pytester.makepyfile(
        ASKS
        + """
    seen = []

    def test_one(kohort_cluster, kohort_namespace):
        seen.append(kohort_namespace)
        ask(kohort_cluster, f"/api/v1/namespaces/{kohort_namespace}")

    def test_two(kohort_cluster, kohort_namespace):
        items = ask(kohort_cluster, "/api/v1/namespaces")["items"]
        names = [item["metadata"]["name"] for item in items]
        assert kohort_namespace in names
        assert seen[0] not in names
    """
    )
    pytester.runpytest_subprocess("--kohort-nodes=1").assert_outcomes(passed=2)


def test_loading_the_plugin_imports_nothing_of_the_control_plane():
    parts = "('kohort.apiserver', 'kohort.simulator')"
    found = f"[name for name in sys.modules if name[:16] in {parts}]"
    code = f"import sys, kohort.testing.plugin; print({found})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert done.stdout.strip() == "[]", os.environ
