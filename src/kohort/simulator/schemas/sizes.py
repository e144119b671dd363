"""How large one object may become: what the database of a real server takes."""

from kohort.cluster.errors import BareError

OBJECT_BYTES_MAX = 3 * 512 * 1024


def too_large_to_store() -> BareError:
    """The answer to a write that would make a larger one, in the words of that database."""
    return BareError("etcdserver: request is too large")
