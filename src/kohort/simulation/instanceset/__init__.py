"""RoleInstanceSets by hand in simulations."""
