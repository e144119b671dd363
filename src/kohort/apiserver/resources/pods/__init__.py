"""
All that is special about pods: row, defaults, checks, columns, warnings.

``kind`` says how these come together. Validation returns every fault in the order in which a
real server reports them; pod templates of other kinds are checked by the same functions.
"""
