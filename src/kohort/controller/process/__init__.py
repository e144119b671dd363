"""The process: what the operator is told, how it starts, what it shows of itself, how it ends."""
