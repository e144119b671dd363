"""
ModelServing (``workload.serving.volcano.sh/v1alpha1``): groups of roles, with entries and workers.

Names, labels, variables and rendered objects are those of kthena's controller to the letter, since
clients select by them and a running workload must change hands without a restarted pod. What is
ours comes beside: labels and annotations that LeaderWorkerSet has and ModelServing lacked.
"""
