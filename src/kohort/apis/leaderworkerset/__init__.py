"""
LeaderWorkerSet (``leaderworkerset.x-k8s.io/v1``): groups of one leader and its workers.

Names, labels, revision keys and rendered objects are those of the upstream
controller to the letter, since clients select by them and a running set must
change hands without a pod noticing.
"""
