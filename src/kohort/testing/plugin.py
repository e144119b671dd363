"""This is where pytest meets Kohort: the options and the fixtures.

Nothing of the simulator is imported before a test asks for a cluster.
"""
