"""The command ``kohort``: its arguments, its output and its exit codes."""
