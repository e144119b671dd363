"""
The objects that carry a LeaderWorkerSet: pod templates, StatefulSets, Services.

They equal what the upstream controller writes, field by field, so that nothing
changes when Kohort takes over.
"""
