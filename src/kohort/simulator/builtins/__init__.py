"""The built-in controllers of Kubernetes, each as a component."""

from kohort.simulator.builtins.components import builtin_parts

__all__ = ["builtin_parts"]
