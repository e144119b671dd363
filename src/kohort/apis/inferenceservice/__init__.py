"""
InferenceService (``ome.io/v1beta1``): a served model, turned into workloads by a strategy.

What is here is a function of manifests: the service and what it names in, objects that should exist
and reasons out.
"""
