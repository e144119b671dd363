"""Scenarios: each module measures one thing, by a function ``measure(quick)``."""
