"""Implement the commands beside the conversion: inspect, seal, and printed summaries."""
