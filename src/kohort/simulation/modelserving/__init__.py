"""ModelServing in simulations."""
