"""Evidence for the health of a workload beyond its own pods: nodes, events, records, volumes."""
