"""Names of ModelServing's objects, and its keys, as upstream and LeaderWorkerSet write them."""

import pytest

from kohort.apis import tpu
from kohort.apis.leaderworkerset import labels as lws
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.objects.instances import PodPlace, find_place


def test_names_are_upstreams():
    assert names.group_name("sample", 0) == "sample-0"
    assert names.role_id("decode", 1) == "decode-1"
    assert names.entry_name("sample", 0, "decode", 1) == "sample-0-decode-1-0"
    assert names.pod_name("sample", 0, "decode", 1, 2) == "sample-0-decode-1-2"
    assert names.revision_name("sample", "67b8d4b8c7") == "sample-67b8d4b8c7"
    assert names.entry_address("sample-0-decode-1-0", "ns") == "sample-0-decode-1-0.ns"


@pytest.mark.parametrize(
    ("name", "ordinal"),
    [
        ("sample-0", 0),
        ("a-1-decode-12", 12),
        ("sample", -1),
        ("sample-", -1),
        ("sample-x", -1),
        ("sample-2147483648", -1),
        ("sample-007", 7),
        ("sample-٣", -1),
        ("", -1),
    ],
)
def test_an_ordinal_is_the_last_number_of_a_name(name: str, ordinal: int):
    assert names.read_ordinal(name) == ordinal


@pytest.mark.parametrize(
    ("pod", "found"),
    [
        ("llama-3-serve-2-1", PodPlace(3, "serve", 2, 1)),
        ("llama-3-a-1-2-0", PodPlace(3, "a-1", 2, 0)),
        ("llama-0-a1-0-10", PodPlace(0, "a1", 0, 10)),
        ("other-3-serve-2-1", None),
        ("llama-3-serve-2-x", None),
        ("llama-3-serve-02-1", None),
        ("llama-serve-2-1", None),
        ("llama-3-2-1", None),
        ("llama-3-serve-1", None),
        ("llama-3", None),
        ("llama", None),
    ],
)
def test_the_place_of_a_pod_is_read_from_its_name(pod: str, found: PodPlace | None):
    assert find_place("llama", pod) == found


def test_hashes_are_the_golden_ones():
    assert names.group_hash("ml", "llama-0") == "d856c1e7f22d7332c404810bec7bfcea96cfdda1"
    assert names.hash_text("llama-0") == "7c180425a5e4b1b86c78e6f7625fe554149da9d4"
    assert names.hash_text("test-lws-basic-0") == "f8ab6bc7fcb8e636876e97f9ca1e93cbcad513ac"


def test_the_texts_of_leader_worker_set_are_its_own():
    twins = {
        name.removeprefix("LWS_"): text for name, text in vars(labels).items() if "LWS" in name
    }
    own = {k: v for k, v in twins.items() if k not in ("KIND", "PREFIX")}
    assert own == {name: getattr(lws, name) for name in own}
    assert lws.KIND.name == labels.LWS_KIND


def test_every_key_stands_once_in_the_list():
    texts = [key.text for key in labels.KEYS]
    assert len(set(texts)) == len(texts)
    of_domains = {
        value
        for name, value in vars(labels).items()
        if name.isupper() and isinstance(value, str) and "/" in value and value[-1] != "/"
    }
    variables = {*labels.VARIABLES, *(key.text for key in tpu.KEYS)}
    assert of_domains <= set(texts)
    assert set(texts) - of_domains >= variables
