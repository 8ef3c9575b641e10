"""Evaluate a model on data with true classes or values: accuracy, confusion, the worst samples."""
