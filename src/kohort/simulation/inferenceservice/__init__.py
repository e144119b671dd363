"""InferenceService in simulations."""
