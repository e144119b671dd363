"""Manifests that ``kohort new`` writes: what users choose, and a text for each API."""
