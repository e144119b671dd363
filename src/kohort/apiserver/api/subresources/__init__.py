"""Subresources with a kind of their own: binding, eviction, scale, token and access reviews."""
