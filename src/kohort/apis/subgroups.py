"""Subgroups of a group, as LeaderWorkerSet divides one; other APIs offer the same division."""


def subgroup_index(size: int, subgroup_size: int, worker: int) -> int:
    """The subgroup of a worker; a leader beyond the even division joins the first subgroup."""
    if size % subgroup_size and (size - 1) % subgroup_size == 0:
        return (worker - 1) // subgroup_size
    return worker // subgroup_size
