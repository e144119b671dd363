"""Planted faults: the list of them, and the command that plants one and runs the tests."""
