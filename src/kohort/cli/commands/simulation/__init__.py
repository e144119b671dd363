"""Commands that look at a running simulation, and change it."""
