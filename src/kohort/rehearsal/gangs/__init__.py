"""Gangs in rehearsals: what the cluster and the operator need for them."""
