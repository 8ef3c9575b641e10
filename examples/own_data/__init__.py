"""From a sensor's samples to a model that classifies them, on one board."""
