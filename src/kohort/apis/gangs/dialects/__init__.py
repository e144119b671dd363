"""One module for each scheduler."""
