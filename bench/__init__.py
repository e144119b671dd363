"""Measurements of Kohort: what it costs, on one core, with figures that can be compared."""
