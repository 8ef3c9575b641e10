"""In which numbers a model computes: floats, blocks, integers of fewer bits."""
