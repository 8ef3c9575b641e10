"""Shapes: a small convolutional network over a camera's frames."""
