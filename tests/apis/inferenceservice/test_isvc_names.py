"""Names of what is made for an InferenceService, against values worked out by hand."""

from hashlib import sha256

import pytest

from kohort.apis.inferenceservice import names

LONG = "x" * 20 + "-a-service-with-a-name-that-is-longer-than-sixty-three-characters"


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def test_a_short_name_is_not_cut():
    assert names.truncate("engine", 6) == "engine"
    assert names.truncate_dns("chat-engine") == "chat-engine"


def test_a_long_name_keeps_its_end_behind_a_hash_of_the_whole():
    assert names.truncate("0123456789abcdef", 12) == f"{digest('0123456789abcdef')}-def"
    assert len(names.truncate(LONG, 63)) == 63


def test_where_no_end_fits_the_hash_alone_stands():
    assert names.truncate("namespace", 8) == digest("namespace")
    assert names.truncate("namespace", 4) == digest("namespace")[:4]


def test_a_name_for_dns_begins_with_a_letter():
    # Found by trying: these hashes begin with a digit and with a letter.
    numeric = next(t for t in (f"{LONG}{i}" for i in range(99)) if digest(t)[0].isdigit())
    assert names.truncate_dns(numeric, 63) == f"a{digest(numeric)[1:]}-{numeric[-54:]}"
    literal = next(t for t in (f"{LONG}{i}" for i in range(99)) if digest(t)[0].isalpha())
    assert names.truncate_dns(literal, 63) == f"{digest(literal)}-{literal[-54:]}"


def test_objects_are_named_after_their_component():
    engine = names.component_name("deepseek-v3", "engine")
    assert engine == "deepseek-v3-engine"
    assert names.leader_worker_set_name(engine) == "lws-deepseek-v3-engine"
    assert names.scaled_object_name(engine) == "scaledobject-deepseek-v3-engine"
    assert names.leader_worker_set_name("a" * 60) == f"lws-{'a' * 50}"


@pytest.mark.parametrize(
    ("name", "namespace", "key"),
    [
        ("deepseek-v3", "", "models.ome.io/clusterbasemodel.deepseek-v3"),
        ("m" * 40, "", f"models.ome.io/clusterbasemodel.{digest('m' * 40)}-{'m' * 23}"),
        ("llama", "ml", "models.ome.io/ml.basemodel.llama"),
        ("m" * 36, "ml", f"models.ome.io/ml.basemodel.{'m' * 36}"),
        ("m" * 37, "ml", f"models.ome.io/ml.basemodel.{digest('m' * 37)}-{'m' * 27}"),
        (
            "m" * 30,
            "platform-team",
            f"models.ome.io/{digest('platform-team')}.basemodel.{'m' * 30}",
        ),
    ],
)
def test_nodes_with_a_model_have_a_label(name: str, namespace: str, key: str):
    assert names.model_ready_label(name, namespace) == key


def test_the_agent_notes_a_model_under_its_scope():
    assert names.model_status_key("llama") == "clusterbasemodel.llama"
    assert names.model_status_key("llama", "ml") == "ml.basemodel.llama"


def test_ray_names_have_a_letter_first_and_at_most_fifty_characters():
    assert names.ray_name("chat-engine-0") == "chat-engine-0"
    assert names.ray_name("1chat-engine-0") == "rchat-engine-0"
    assert names.ray_name("-" + "a" * 49) == "r" + "a" * 49
    assert len(names.ray_name("b" * 70)) == 50


def test_a_text_that_may_be_a_label_stays_and_others_are_made_one():
    assert names.label_value("meta-llama") == "meta-llama"
    assert names.label_value("Meta AI, Inc.") == "Meta-AI-Inc"
    assert len(names.label_value("v" * 80)) == 63


def test_a_model_with_a_dot_in_its_name_names_a_volume_without_it():
    assert names.volume_name("llama-3-1") == "llama-3-1"
    assert names.volume_name("Llama-3.1") == "llama-3-1"
