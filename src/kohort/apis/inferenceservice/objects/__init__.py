"""The objects that the operator creates for a service: pure functions, a module for each kind."""
