"""The verbs of the API server on all kinds: create, update, patch, delete, list and watch."""
