"""From a sensor's samples to a model that tells them apart, on one board."""
