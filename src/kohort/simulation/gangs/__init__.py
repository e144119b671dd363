"""Gangs in simulations: the objects of the cluster and the settings of the operator."""
