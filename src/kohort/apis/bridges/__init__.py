"""
Ways from one API to another: the only packages here that may know two APIs.

A bridge is pure. It takes an object of one kind and gives one of another, and says of each field
what became of it. A field without a counterpart is never dropped in silence. The objects it takes
are such as their schema allows.
"""
