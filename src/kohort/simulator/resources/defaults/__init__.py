"""
What the server fills in where a client said nothing.

Each function changes one object in place and may be called again on what it
made. Two things come together here that a client cannot tell apart: values that
the API chooses, and empty fields that it always writes.
"""
