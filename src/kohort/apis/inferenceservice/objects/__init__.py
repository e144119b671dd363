"""Objects that are made for a service, one module for each kind; all of them pure."""
