"""What admission does to services, runtimes and pods: defaults, rules, and what pods are given."""
