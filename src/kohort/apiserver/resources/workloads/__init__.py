"""StatefulSets, Deployments, other sets of pods, their revisions and budgets, as built-in kinds."""
