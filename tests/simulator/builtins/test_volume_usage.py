"""What is remembered of claims goes with the pods that used them."""

import orjson

from kohort.apiserver.store.entries import StoredObject
from kohort.simulator.builtins.volumes import Usage


def make_pod(name: str, *claims: str) -> StoredObject:
    volumes = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    obj = {"metadata": {"name": name, "uid": name}, "spec": {"volumes": volumes}}
    return StoredObject.make(("default", name), 1, obj, {}, orjson.dumps(obj))


def test_nothing_stays_of_claims_whose_pods_went():
    usage = Usage()
    for number in range(20):
        pod = make_pod(f"p{number}", f"c{number}", "shared")
        usage.note(None, pod)
        usage.note(pod, None)
    assert (usage._claims, usage._pods) == ({}, {})


def test_a_claim_stays_with_the_pods_that_are_left():
    usage = Usage()
    one, other = make_pod("one", "shared"), make_pod("other", "shared")
    usage.note(None, one)
    usage.note(None, other)
    assert usage.note(one, None) == [("default", "shared")]
    assert usage._pods == {("default", "shared"): {"other"}}
