"""
Pods: their spec, which templates share, and what may change in it.

Nearly every write is a good one, so the checks go straight through a spec and
build paths only where something is wrong or a part is deep.
"""
