"""The operator's process: its configuration, start, leader election, metrics and shutdown."""
