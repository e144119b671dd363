"""
Validation that many built-in kinds share, with a real API server's messages.

Functions return every fault that they find, in the order in which a real server
reports them, and never raise. They look at objects after defaults were filled in,
so a missing field means that the client left it out and nothing stands for it.
"""
