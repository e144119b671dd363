"""Edits by other clients of objects that we made: how we see, undo and report them."""
