"""This is where the two halves of an OpenAPI document are written: its schemas and its paths."""
