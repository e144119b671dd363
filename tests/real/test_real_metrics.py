"""Metrics on a real API server: read with a token that may, refused with any other."""

import ssl
import urllib.error
import urllib.request

import pytest
from operator_processes import controllers, eventually, free_port

from conftest import Site

pytestmark = pytest.mark.real


def scrape(port: int, token: str = "") -> tuple[int, str]:
    """What the page says; the certificate is of an authority that only the cluster knows."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"https://127.0.0.1:{port}/metrics", headers=headers)
    trusting = ssl._create_unverified_context()
    try:
        with urllib.request.urlopen(request, timeout=10, context=trusting) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def make_account(site: Site, name: str, *, reads: bool) -> str:
    """An account with a token, bound to the reader's role or to none."""
    kubectl = site.plane.kubectl
    kubectl("create", "serviceaccount", name, "-n", "default")
    if reads:
        account = f"--serviceaccount=default:{name}"
        kubectl("create", "clusterrolebinding", name, "--clusterrole=lws-metrics-reader", account)
    return kubectl("create", "token", name, "-n", "default").strip()


def test_metrics_are_for_accounts_that_may_get_them(site: Site):
    port = free_port()
    words = (f"--metrics-bind-address=0.0.0.0:{port}",)
    reader = make_account(site, "scraper", reads=True)
    stranger = make_account(site, "stranger", reads=False)
    with controllers(site.plane, site.service, site.kubeconfig, words=words) as (one,):
        eventually("metrics are served", lambda: "metrics are served" in one.log.read_text())
        status, text = scrape(port, reader)
        assert status == 200 and "leader_election_master_status 1" in text
        assert scrape(port)[0] == 401
        assert scrape(port, "forged")[0] == 401
        assert scrape(port, stranger) == (
            403,
            "user 'system:serviceaccount:default:stranger' may not get /metrics\n",
        )
