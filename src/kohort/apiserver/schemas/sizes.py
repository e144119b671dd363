"""The size limit of one object, which is that of a real server's etcd."""

from kohort.cluster.errors import BareError

OBJECT_BYTES_MAX = 3 * 512 * 1024


def too_large_to_store() -> BareError:
    """The error for a write beyond the limit, in etcd's words."""
    return BareError("etcdserver: request is too large")
