"""
RoleBasedGroup: prefill, decode and router as one object, by roles.

A role becomes a RoleInstanceSet, its instances RoleInstances, and those pods. All names, labels and
revisions are upstream's to the letter, since clients, autoscalers and its command read them.
"""
