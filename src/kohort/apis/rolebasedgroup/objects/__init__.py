"""
The objects that the operator writes for a RoleBasedGroup: pure functions from role to manifest.

No function here reads a cluster. Callers pass objects that upstream wrote, to keep their style.
"""
