"""Certificates: what is made, what is kept, and when something is due."""

from dataclasses import replace
from datetime import timedelta

import pytest
from certificate_world import BRIEF, NAMES, NOW
from cryptography import x509

from kohort.cluster.errors import KohortError
from kohort.controller.certificates.issue import (
    Need,
    find_due,
    is_presentable,
    judge_material,
    read_names,
    renew_material,
)
from kohort.controller.certificates.live import LiveContext


def judge(material, names=NAMES, now=NOW):
    return judge_material(material, names, now, BRIEF)


@pytest.fixture(scope="module")
def material():
    return renew_material(None, NAMES, NOW, BRIEF)


def certificates(text):
    return x509.load_pem_x509_certificates(text.encode())


def test_what_is_made_needs_nothing_and_can_be_shown(material):
    assert judge(material) is Need.NOTHING
    assert renew_material(material, NAMES, NOW, BRIEF) is material
    assert LiveContext().show(material.certificate, material.key)


def test_the_server_is_known_by_all_its_names(material):
    assert read_names(certificates(material.certificate)[0]) == set(NAMES)


def test_a_certificate_is_due_before_it_ends(material):
    assert find_due(material, BRIEF) == NOW + timedelta(days=1)
    assert judge(material, now=NOW + timedelta(hours=25)) is Need.SERVING
    assert judge(material, now=NOW + timedelta(days=9, hours=1)) is Need.ALL


def test_a_renewed_certificate_keeps_its_authority(material):
    later = NOW + timedelta(hours=25)
    renewed = renew_material(material, NAMES, later, BRIEF)
    assert (renewed.ca, renewed.ca_key) == (material.ca, material.ca_key)
    assert renewed.certificate != material.certificate
    assert judge(renewed, now=later) is Need.NOTHING


def test_a_new_authority_stands_before_the_one_that_is_still_trusted(material):
    later = NOW + timedelta(days=9, hours=1)
    renewed = renew_material(material, NAMES, later, BRIEF)
    old, new = certificates(material.ca)[0], certificates(renewed.ca)
    assert new[1] == old and new[0] != old
    assert judge(renewed, now=later) is Need.NOTHING


def test_an_authority_that_has_ended_is_no_longer_trusted(material):
    renewed = renew_material(material, NAMES, NOW + timedelta(days=11), BRIEF)
    assert len(certificates(renewed.ca)) == 1


def test_a_new_name_is_added_to_those_that_were_there(material):
    assert judge(material, names=("10.0.0.1",)) is Need.SERVING
    renewed = renew_material(material, ("10.0.0.1",), NOW, BRIEF)
    assert read_names(certificates(renewed.certificate)[0]) == {*NAMES, "10.0.0.1"}
    assert judge(renewed, names=NAMES) is Need.NOTHING


@pytest.mark.parametrize(
    ("field", "need"),
    [
        ("ca", Need.ALL),
        ("ca_key", Need.ALL),
        ("certificate", Need.SERVING),
        ("key", Need.SERVING),
    ],
)
def test_what_cannot_be_read_is_made_anew(material, field, need):
    damaged = replace(material, **{field: "-----BEGIN NONSENSE-----"})
    assert judge(damaged) is need
    assert judge(renew_material(damaged, NAMES, NOW, BRIEF)) is Need.NOTHING


def test_what_another_authority_signed_is_made_anew(material):
    other = renew_material(None, NAMES, NOW, BRIEF)
    mixed = replace(material, certificate=other.certificate, key=other.key)
    assert judge(mixed) is Need.SERVING


def test_what_is_due_can_still_be_shown_and_what_has_ended_cannot(material):
    assert is_presentable(material, NOW + timedelta(hours=25))
    assert not is_presentable(material, NOW + timedelta(days=3))


def test_a_certificate_with_a_foreign_key_is_not_loaded(material):
    other = renew_material(None, NAMES, NOW, BRIEF)
    with pytest.raises(KohortError, match="cannot be used"):
        LiveContext().show(material.certificate, other.key)
