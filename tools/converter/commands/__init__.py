"""Implement the commands besides the conversion: inspect, seal, and printed summaries."""
