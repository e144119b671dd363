"""
What makes an object of a built-in kind invalid, in the words of a real API server.

Functions return every fault that they find, in the order in which a real server
reports them, and never raise. They look at objects after defaults were filled in,
so a missing field means that the client left it out and nothing stands for it.
"""
