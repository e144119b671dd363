"""The shell of the operator: it watches, asks for plans, and carries them out."""
