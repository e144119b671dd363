"""
Components: the pod specs, metadata and counts of engine, decoder and router, for any strategy.

Methods of a component change nothing and return the same value each time: they never write into
the merged specs.
"""
