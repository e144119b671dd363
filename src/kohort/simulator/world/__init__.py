"""The world: the loop that runs the components of a control plane on one API."""

from kohort.simulator.world.loop import World

__all__ = ["World"]
