"""
Components: what engine, decoder and router bring to a workload, whatever the strategy.

A component is asked for pod specs, metadata and counts. Asking changes nothing and gives the same
answer each time: nothing is written into the merged specs.
"""
