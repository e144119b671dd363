"""
LeaderWorkerSet (``leaderworkerset.x-k8s.io/v1``): groups of one leader and its workers.

Names, labels, revision keys and rendered objects are exactly those of the upstream
controller, since clients select by them, and Kohort must be able to take over a
running set without restarting a pod.
"""
