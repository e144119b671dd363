"""
IP addresses of pods: unique among running pods, and not reused at once.

A pod gets the next free address after the last one given, so that a client which
remembers the address of a deleted pod does not reach its successor there.
"""

NETWORK = 10 << 24 | 244 << 16  # 10.244.0.0, and on to 10.255.255.255
SIZE = 12 << 16


class AddressBook:
    """The addresses in use."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self._last = 0

    def take(self, uid: str) -> str:
        """An address for a pod."""
        for _ in range(SIZE):
            self._last = (self._last + 1) % SIZE
            address = _text(NETWORK + self._last)
            if self._last & 0xFF not in (0, 255) and address not in self._owners:
                self._owners[address] = uid
                return address
        raise AssertionError("more pods than addresses")

    def adopt(self, address: str, uid: str) -> None:
        """Note that a pod has an address already."""
        self._owners.setdefault(address, uid)

    def release(self, address: str, uid: str) -> None:
        """Free the address of a deleted pod."""
        if self._owners.get(address) == uid:
            del self._owners[address]


def _text(number: int) -> str:
    return ".".join(str(number >> shift & 0xFF) for shift in (24, 16, 8, 0))
