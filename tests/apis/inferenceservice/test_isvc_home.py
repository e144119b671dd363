"""The names by which a cluster knows OME's controller: two operators meet at them."""

from kohort.apis.inferenceservice.home import HOME


def test_the_lease_and_the_webhooks_bear_upstreams_names() -> None:
    assert (HOME.namespace, HOME.lease) == ("ome", "ome-controller-manager-leader-lock")
    assert HOME.mutating_name == HOME.validating_name == "inferenceservice.ome.io"


def test_events_come_from_upstreams_reporter() -> None:
    assert HOME.reporter == "v1beta1Controllers"
