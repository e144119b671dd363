"""Admission of services, runtimes and pods: defaults, validation, and containers for pods."""
