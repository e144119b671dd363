"""
Workload strategies: how the components of a service become workloads.

A strategy decides whether it applies to a service, checks the modes of its components, and returns
the objects that should exist. It writes nothing. Other packages add strategies by the entry point
``kohort.workload_strategies``.
"""
