"""Writes: everything between a request that changes something and the store."""
