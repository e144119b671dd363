"""RoleInstances by hand in simulations."""
