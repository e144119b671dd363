"""Measurements of the operator on a real control plane."""
