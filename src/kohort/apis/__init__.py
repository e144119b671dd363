"""Translators: one package for each foreign API, and what they share."""
