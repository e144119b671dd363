"""
Annotations of a service that have no effect and resemble one that has.

A key in lower case, a key with a letter too few, and one under the prefix of another project are
probably mistakes. Upstream ignores them silently.
"""

from collections.abc import Iterator
from difflib import get_close_matches

from kohort.apis.inferenceservice import labels
from kohort.apis.inferenceservice.spec import InferenceService

_OURS = (labels.PREFIX, "kohort.dev/")
_KEYS = tuple(
    value
    for name, value in vars(labels).items()
    if name.isupper() and isinstance(value, str) and "/" in value
)
_LIKE = {key.lower(): key for key in _KEYS if key.startswith(_OURS)}
_NAMES = {key.lower().partition("/")[2]: key for key in _LIKE.values()}
_ALIKE, _NAME_MIN = 0.9, 10  # how alike keys have to be, and how long a name that says enough


def warn_keys(service: InferenceService) -> Iterator[str]:
    """A warning for each annotation that probably should have another key."""
    for key in sorted(service.annotations):
        meant = _find_meant(key)
        if meant:
            yield f"annotation {key} has no effect: did you mean {meant}?"


def _find_meant(key: str) -> str:
    if key in _KEYS:
        return ""
    name = key.lower().rpartition("/")[2]
    if len(name) >= _NAME_MIN and name in _NAMES:
        return _NAMES[name]
    near = get_close_matches(key.lower(), _LIKE, 1, _ALIKE) if key.startswith(_OURS) else ()
    return next((_LIKE[each] for each in near), "")
