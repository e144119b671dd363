"""
RoleBasedGroup: one object with a role for prefill, one for decode and one for the router.

A role becomes a RoleInstanceSet, the set RoleInstances, and each RoleInstance pods. All names,
labels and revisions equal upstream's to the letter: clients, autoscalers and upstream's command
line read them.
"""
