"""The parts of an OpenAPI document: its schemas and its paths, in version 3 and 2."""
