"""
Admission of RoleBasedGroups and the other kinds of their API group: refusals and warnings.

Admission sets no defaults in specs: each stands in a schema, in upstream's definitions as in ours.
The reader of an object reports every refusal made here, too, since admission may be off.
"""
