"""On a bare cluster one command is enough: ``kohort controller --install``."""

import pytest
from cluster_driver import Driver, make_lws
from operator_processes import Controller, eventually, free_port, read_holder
from upstream_scenarios import bring_up

from control_plane import real_plane
from kohort.cluster.http import connect

pytestmark = pytest.mark.real


async def test_one_command_is_enough_on_a_bare_cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare") / "plane"
    with real_plane(folder, "--nodes", "2") as plane:
        port = free_port()
        url, log = f"https://127.0.0.1:{port}", folder / "log" / "controller"
        words = ("--install", "--webhook-port", str(port))
        controller = Controller(plane.kubeconfig, url, log, *words)
        try:
            eventually("somebody leads", lambda: read_holder(plane), log.read_text)
            controller.wait_until_ready()
            async with connect(plane.kubeconfig) as cluster, Driver(cluster) as driver:
                await bring_up(driver, make_lws(groups=2))
            said = log.read_text()
            assert "level=warning" not in said.lower(), said
            assert "cannot see the schema" not in said, said
        finally:
            assert controller.stop() == 0
