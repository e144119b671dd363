"""
What happens to RoleBasedGroups and their kin on their way in: refusing and warning.

Nothing is filled in here: each default stands in a schema, in upstream's definitions as in ours.
Everything that is refused here is also said while an object is read, since admission may be off.
"""
