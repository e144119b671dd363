"""
What happens to a ModelServing on its way in: refusing and warning, as plain functions.

Nothing is filled in here: each default of the kind stands in its schema, in upstream's
definition as in ours.
"""
