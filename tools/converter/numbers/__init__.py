"""Choose the numbers in which a model computes: floats, blocks, or integers of few bits."""
