"""Gangs, in the words of each scheduler: one intent, many dialects."""
