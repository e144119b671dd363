"""The built-in kinds, each with its defaults, its validation and its printed columns."""
