"""The embedded cluster: everything put together and started on loopback."""

from kohort.simulator.embedded.cluster import Embedded, EmbeddedOptions

__all__ = ["Embedded", "EmbeddedOptions"]
