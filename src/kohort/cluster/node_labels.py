"""
The node labels that say where a node stands: on which host, in which rack, under which spine.

The first is a label of Kubernetes. Simulated nodes carry the others; a real cluster
may have other labels for racks and spines, so flags can name them.
"""

HOST = "kubernetes.io/hostname"
RACK = "topology.kohort.dev/rack"
SPINE = "topology.kohort.dev/spine"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
