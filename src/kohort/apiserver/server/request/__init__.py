"""The parts of an HTTP request: path, query, negotiated formats and body."""
