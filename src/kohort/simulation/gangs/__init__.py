"""Gangs in simulations: what the cluster and the operator need for them."""
