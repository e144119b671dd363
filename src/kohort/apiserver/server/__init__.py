"""The HTTP side of the API server: requests in, answers and watch streams out."""
