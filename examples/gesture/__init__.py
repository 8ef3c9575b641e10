"""Gestures: a small network over an accelerometer's readings."""
