"""Kohort: one operator for groups of pods that serve large models."""

__version__ = "0.1.0.dev0"
