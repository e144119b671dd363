"""
The objects of a RoleBasedGroup as they are written: pure functions from a role to manifests.

Nothing here reads a cluster. What upstream wrote before us is given, and its style is kept.
"""
