"""
The workload strategy layer: how the components of a service become workloads.

A strategy says whether it is for a service, whether it can deploy the modes of its components, and
what is to exist. It writes nothing. More strategies come from other packages, by entry point
``kohort.workload_strategies``.
"""
