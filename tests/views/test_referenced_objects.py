"""What commands see of a workload holds the objects that it names, as the operator's view does."""

import orjson

from gadget_api import GADGETS, PROFILE, make_gadget, make_profile
from kohort.views.samples import gather


def test_a_sample_holds_what_its_workload_names_and_nothing_else():
    roots = [make_gadget("a", profile="p"), make_gadget("b", profile="none"), make_gadget("c")]
    profiles = [orjson.dumps(make_profile(name, "red")) for name in ("p", "q")]
    samples = gather(GADGETS, map(orjson.dumps, roots), {PROFILE: [*profiles, b"{}"]})
    named = [[p.metadata.name for p in s.snapshot.references[PROFILE]] for s in samples]
    assert named == [["p"], [], []]


def test_a_workload_that_cannot_be_read_names_nothing():
    bad = {**make_gadget("a"), "spec": ["p"]}
    (sample,) = gather(GADGETS, [orjson.dumps(bad)], {})
    assert sample.snapshot.references == {PROFILE: ()}
