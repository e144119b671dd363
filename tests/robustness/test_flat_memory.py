"""Memory that requests have used goes back to the system, however small what stays between it."""

import platform
import subprocess
import sys

import pytest

from kohort.process.memory import bound_heaps

# Bodies of 1 MiB, each followed by something small that stays. The first is freed before the
# others are made, as the first request is answered before the others come.
PROGRAM = """
import ctypes
from kohort.process.memory import bound_heaps

{settle}
NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in NAMES.split()]

libc = ctypes.CDLL(None)
read = getattr(libc, "mallinfo2", Info)
read.restype = Info
large = bytes(1 << 20)
del large
bodies, kept = [], []
for _ in range(40):
    bodies.append(bytes(1 << 20))
    kept.append(bytes(2_000))
bodies.clear()
print(read().fordblks >> 20)
"""


def measure_free(settle: str) -> int:
    """How many MiB libc holds although nothing uses them."""
    program = PROGRAM.format(settle=settle)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return int(done.stdout)


def test_places_of_large_bodies_go_back_to_the_system():
    assert measure_free("bound_heaps()") < 4
    # Else the line above says nothing. Another libc may do it by itself.
    assert platform.libc_ver()[0] != "glibc" or measure_free("") > 30


@pytest.mark.parametrize("libc", [object(), type("Deaf", (), {"mallopt": lambda *_: 0})])
def test_a_libc_without_these_settings_is_left_alone(libc: object):
    assert bound_heaps(libc) is False
