"""The controllers that a real control plane has built in, each as a part."""

from kohort.simulator.builtins.components import builtin_parts

__all__ = ["builtin_parts"]
