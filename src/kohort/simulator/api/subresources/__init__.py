"""Subresources that are more than a part of their object: each has a form of its own."""
