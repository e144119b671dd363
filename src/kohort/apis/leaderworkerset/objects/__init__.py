"""
The objects that carry a LeaderWorkerSet: pod templates, StatefulSets, Services.

They are what the upstream controller writes, field by field, so that taking
over from it finds nothing to change.
"""
