"""The world: components around one API, and what drives them."""

from kohort.simulator.world.loop import World

__all__ = ["World"]
