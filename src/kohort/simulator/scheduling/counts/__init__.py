"""Counts of placed pods by topology domain, for affinity, anti-affinity and spreading."""
