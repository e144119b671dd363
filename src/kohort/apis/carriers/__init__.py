"""Carriers: which objects make up a unit, and how these are read back as units."""
