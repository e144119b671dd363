"""RoleBasedGroup in simulations."""
