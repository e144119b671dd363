"""
Admission of ModelServings: validation and warnings, as plain functions.

No defaults are filled in here: all defaults of the kind are in its schema, in upstream's
CRD as in ours.
"""
