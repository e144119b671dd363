"""This is where other people's tests find a cluster: a context manager and a pytest plugin.

Everything here is public. Importing it must cost almost nothing, because pytest loads the plugin
in every run of every project in whose environment Kohort lies.
"""
