"""The simulated gang schedulers: a gang's pods are placed together, or none of them is."""
