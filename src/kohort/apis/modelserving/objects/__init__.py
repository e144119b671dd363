"""
The objects that carry a ModelServing: pods, headless Services, and the gangs of its groups.

They equal what upstream writes, field by field, so that nothing changes when Kohort takes over.
We add the labels and annotations that LeaderWorkerSet has and ModelServing lacked.
"""
