"""Informers: watchers that fill caches, and the caches that plans read."""
