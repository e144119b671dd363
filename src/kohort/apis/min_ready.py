"""How long a group must be ready before a rollout relies on it: an annotation of every API."""

import re

from kohort.apis.api import InvalidWorkload
from kohort.cluster.objects import Object, annotations_of

MIN_READY_SECONDS = "kohort.dev/min-ready-seconds"
RULE = 'must be a whole number of seconds from 0 to 999999999, such as "30"'
_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)


def find_min_ready(obj: Object) -> int | None:
    """The seconds in an object's annotation; None if it is not a number."""
    text = annotations_of(obj).get(MIN_READY_SECONDS, "0")
    return int(text) if _SECONDS.fullmatch(text) else None


def read_min_ready(obj: Object) -> int:
    """The seconds in an object's annotation; raises InvalidWorkload if it is not a number."""
    seconds = find_min_ready(obj)
    if seconds is None:
        said = annotations_of(obj)[MIN_READY_SECONDS][:50]
        text = f'annotation {MIN_READY_SECONDS} is "{said}", and must be a whole number'
        raise InvalidWorkload("InvalidMinReadySeconds", f"{text} of seconds, such as 30")
    return seconds
