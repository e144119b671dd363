"""
The node labels that say where a node stands: on which host, in which rack, under which spine.

The first is of Kubernetes. The others are what simulated nodes carry; a cluster of
yours may have labels of its own for the same, which is why flags can name them.
"""

HOST = "kubernetes.io/hostname"
RACK = "topology.kohort.dev/rack"
SPINE = "topology.kohort.dev/spine"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
