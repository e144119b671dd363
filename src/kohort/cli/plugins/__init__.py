"""Plugins of other packages: what is installed here, and the first files of a new one."""
