"""
What people are shown of workloads, as values: the same for terminals and pages.

Views read the same snapshots and run the same planner as the operator, so they
are true while no operator runs. Everything here is pure: time is an argument.
"""
