"""
The objects that carry a ModelServing: pods, headless Services, and the gangs of its groups.

They are what upstream writes, field by field, so that taking over finds nothing to change, and
beside that the labels and annotations that LeaderWorkerSet has and ModelServing lacked.
"""
