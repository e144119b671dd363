"""
InferenceService (``ome.io/v1beta1``): a served model, which a strategy turns into workloads.

The code is a pure function of manifests: it takes the service and the objects that it references,
and returns the objects that should exist, with reasons.
"""
