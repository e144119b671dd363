"""A search for requests that break the embedded cluster."""
