"""
Memory settings of Python and libc for a long-lived process.

Nearly everything that an embedded cluster or the operator holds is freed by counting references.
The search for cycles stops all work and takes time with the number of objects, so what exists when
the process begins its work is left out of the search, and searches are rare.

Freed memory has to go back to the system, too. By itself glibc raises the size from which a block
is mapped on its own, up to 32 MiB, as soon as a large block is freed; after that, bodies of
requests lie between objects that stay, and their places are never whole again. It also gives
each thread a heap of its own. A fixed size and few heaps keep memory flat however many
requests there were. A libc without these settings is left as it is.
"""

import ctypes
import gc
from typing import Any

# Thresholds of ``gc``: objects before a young search, and searches before an older one.
_THRESHOLDS = (50_000, 20, 50)
# Options of ``mallopt`` in glibc's malloc.h, and their values.
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
MAPPED_BYTES_MIN = 256 * 1024
_HEAPS_MAX = 2


def bound_heaps(libc: Any = None) -> bool:
    """
    Make libc return large freed blocks to the system; returns whether it has such settings.

    Call it before the process starts threads.
    """
    try:
        set_option = (libc or ctypes.CDLL(None)).mallopt
    except (AttributeError, OSError):
        return False
    options = ((_MMAP_THRESHOLD, MAPPED_BYTES_MIN), (_ARENA_MAX, _HEAPS_MAX))
    return all([set_option(option, value) == 1 for option, value in options])


def settle_memory() -> None:
    """Leave all present objects out of cycle searches, and search rarely; call it when ready."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
