"""Where pods can go: the fit of pods to nodes, and of gangs to topology domains."""
