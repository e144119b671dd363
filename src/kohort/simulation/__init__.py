"""Simulations: the unchanged operator on a whole cluster in virtual time, with faults."""
