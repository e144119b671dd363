"""The checks of ``kohort doctor``, one module for each part of a cluster, and their findings."""
