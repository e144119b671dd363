"""The simulated controllers of Endpoints and EndpointSlices."""
