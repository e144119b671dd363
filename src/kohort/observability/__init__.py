"""The operator's metrics and log lines."""
