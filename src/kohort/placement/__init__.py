"""Where pods have room: nodes, the domains they form, and what fits where."""
