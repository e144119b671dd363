"""Translators: one package for each foreign API, and the code that all of them share."""
