"""The I/O of the operator: it watches the cluster, asks for plans, and carries them out."""
