"""
Image names: which of them a kubelet refuses before it asks a registry.

A name is ``[domain/]path[:tag][@digest]``; without a domain it is one of Docker's. What the
first slash parts off is a domain only if it looks like one: with a dot, a port or
capitals, or ``localhost``. The words are those of the library that kubelets parse with.
"""

import re

from kohort.cluster.answer_caches import keep_answers

_PATH_LENGTH_MAX = 255
_DOMAIN, _FOLDER, _LOCAL = "docker.io", "library/", "localhost"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?")
_COMPONENT = re.compile(r"[a-z0-9]+(?:(?:__|[._]|-+)[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*):([0-9a-fA-F]{32,})")
_HEX_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_MALFORMED = "invalid reference format"


@keep_answers(1_024)  # Cached, since thousands of pods have the same few images.
def find_image_fault(image: str) -> str:
    """Why an image name is invalid; None if it is valid."""
    if _IDENTIFIER.fullmatch(image):
        return f"invalid repository name ({image}), cannot specify 64-byte hexadecimal strings"
    domain, rest = _split_domain(image)
    named = rest.partition(":")[0]
    if named.lower() != named:
        return f"{_MALFORMED}: repository name ({named}) must be lowercase"
    name, at, digest = rest.partition("@")
    path, colon, tag = name.partition(":")
    if not _HOST.fullmatch(domain) or (colon and not _TAG.fullmatch(tag)):
        return _MALFORMED
    if not all(_COMPONENT.fullmatch(component) for component in path.split("/")):
        return _MALFORMED
    if len(path) > _PATH_LENGTH_MAX:
        return f"repository name must not be more than {_PATH_LENGTH_MAX} characters"
    return _find_digest_fault(digest) if at else ""


def _split_domain(image: str) -> tuple[str, str]:
    head, slash, tail = image.partition("/")
    looks_like_one = any(c in head for c in ".:") or head == _LOCAL or head.lower() != head
    domain, rest = (head, tail) if slash and looks_like_one else (_DOMAIN, image)
    if domain in (_DOMAIN, "index.docker.io") and "/" not in rest:
        return _DOMAIN, _FOLDER + rest
    return domain, rest


def _find_digest_fault(digest: str) -> str:
    found = _DIGEST.fullmatch(digest)
    if found is None:
        return _MALFORMED
    algorithm, text = found.groups()
    if algorithm not in _HEX_LENGTHS:
        return "unsupported digest algorithm"
    if len(text) != _HEX_LENGTHS[algorithm]:
        return "invalid checksum digest length"
    return "" if text == text.lower() else "invalid checksum digest format"
