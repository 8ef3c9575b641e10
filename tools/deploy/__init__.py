"""Deploy a model to a board, and verify its results there: see tools/flash.py."""
