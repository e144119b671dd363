"""
ModelServing (``workload.serving.volcano.sh/v1alpha1``): groups of roles, with entries and workers.

Names, labels, variables and rendered objects are exactly those of kthena's controller, since
clients select by them, and Kohort must be able to take over a workload without restarting a pod.
We add labels and annotations that LeaderWorkerSet has and ModelServing lacked.
"""
