"""
This is where a process that hosts a cluster tells Python how to look for garbage.

Nearly everything that a cluster holds is freed by counting references. The search for
cycles stops all work and takes time with the number of objects, so what exists when
the cluster is ready is left out of it, and it is made seldom.
"""

import gc

# Objects made before the young are searched, and searches before the older are.
_THRESHOLDS = (50_000, 20, 50)


def settle_memory() -> None:
    """Leave out all that exists now, and search seldom. To be called once, when ready."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
