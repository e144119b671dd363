"""The commands of ``kohort``, one module for each."""
