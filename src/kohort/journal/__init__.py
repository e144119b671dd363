"""The journal: the operator's latest snapshots and decisions, which the planner can replay."""
