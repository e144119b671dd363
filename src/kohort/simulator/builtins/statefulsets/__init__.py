"""The simulated StatefulSet controller."""
