"""Admission: the answers of all webhooks, and the HTTPS server that API servers call."""
