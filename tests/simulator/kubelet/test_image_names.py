"""Which names of images a kubelet refuses, and in what words."""

import pytest

from kohort.simulator.kubelet.references import find_image_fault

HEX = "0123456789abcdef" * 4
MALFORMED = "invalid reference format"


@pytest.mark.parametrize(
    "image",
    [
        "nginx",
        "nginx:1.27",
        "vllm/vllm-openai:v0.8.5",
        "registry.k8s.io/pause:3.10",
        "localhost/mine",
        "localhost:5000/mine:latest",
        "Registry/mine",
        "[fd00::1]:5000/a/b__c/d--e.f",
        f"nginx@sha256:{HEX}",
        f"ghcr.io/a/b:v1@sha256:{HEX}",
        "a" * 247,
        "n:" + "t" * 128,
    ],
)
def test_names_of_images_are_taken(image: str):
    assert find_image_fault(image) == ""


@pytest.mark.parametrize(
    ("image", "fault"),
    [
        ("nginx:", MALFORMED),
        ("nginx:a:b", MALFORMED),
        ("nginx:" + "t" * 129, MALFORMED),
        ("-nginx", MALFORMED),
        ("a//b", MALFORMED),
        ("a..b/c", MALFORMED),
        ("a___b", MALFORMED),
        ("two words", MALFORMED),
        ("nginx@sha256:12", MALFORMED),
        ("https://registry/a", MALFORMED),
        ("", MALFORMED),
        ("Nginx", f"{MALFORMED}: repository name (library/Nginx) must be lowercase"),
        ("ghcr.io/Me/x:1", f"{MALFORMED}: repository name (Me/x) must be lowercase"),
        (HEX, f"invalid repository name ({HEX}), cannot specify 64-byte hexadecimal strings"),
        ("a" * 248, "repository name must not be more than 255 characters"),
        (f"n@md5:{HEX}", "unsupported digest algorithm"),
        (f"n@sha512:{HEX}", "invalid checksum digest length"),
        (f"n@sha256:{HEX.upper()}", "invalid checksum digest format"),
    ],
)
def test_other_texts_are_refused(image: str, fault: str):
    assert find_image_fault(image) == fault


def test_a_hostile_name_is_read_in_one_pass():
    assert find_image_fault("a-" * 50_000) == MALFORMED
