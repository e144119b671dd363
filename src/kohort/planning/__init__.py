"""The verbs of Kohort: pure functions from what is wanted and what exists to a plan."""
