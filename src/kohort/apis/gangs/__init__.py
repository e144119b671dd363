"""Gangs: one intent, translated into the objects of each scheduler by its dialect."""
