"""The decisions of a takeover about one definition, without a cluster."""

from kohort.apis.definitions.definition import MANAGED_BY
from kohort.cluster.objects import Object
from kohort.controller.install.install import OURS
from kohort.takeover.record import Record, place_of
from kohort.takeover.steps import APPLY, Seen, Wish, Write, decide

WEBHOOKS = APPLY[1:2]


def make_definition(service: str) -> Object:
    """A definition with two versions, between which a service converts."""
    hook = {"clientConfig": {"service": {"name": service}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "groups.example.com"},
        "spec": {
            "versions": [{"name": "v1"}, {"name": "v2"}],
            "conversion": {"strategy": "Webhook", "webhook": hook},
        },
    }


def point(record: Record, live: Object) -> Write:
    """The write that lets the definition ask us for conversions."""
    seen = Seen({place_of(live): live})
    _, decision = decide(WEBHOOKS, record, seen, Wish(conversions=(make_definition("kohort"),)))
    assert isinstance(decision, Write)
    return decision


def test_a_conversion_by_the_other_controller_is_saved_also_where_we_wrote_the_definition():
    live = make_definition("theirs")
    live["metadata"]["labels"] = {MANAGED_BY: OURS}
    [saved] = point(Record(("rbg",)), live).record.conversions
    assert saved["spec"] == {"conversion": live["spec"]["conversion"]}


def test_a_conversion_is_saved_once_as_it_was_before_the_takeover():
    first = point(Record(("rbg",)), make_definition("theirs"))
    assert first.put is not None
    assert first.put["spec"]["conversion"] == make_definition("kohort")["spec"]["conversion"]
    [saved] = first.record.conversions
    assert saved["spec"] == {"conversion": make_definition("theirs")["spec"]["conversion"]}
    # A kill before the write, or another client after it: the definition is not ours again.
    for service in ("theirs", "another"):
        again = point(first.record, make_definition(service))
        assert again.put == first.put
        assert again.record.conversions == (saved,)
