"""Carriers: how units become objects, and how objects are read back as units."""
