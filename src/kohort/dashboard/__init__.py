"""
The dashboard: workloads, nodes and the simulation as a page that updates itself.

It watches a cluster into caches, as the operator does, and shows the views of ``kohort.views``,
as the command line does. It writes nothing unless its user allows it.
"""
