"""Brings a model to a board and proves that it computes right there: see tools/flash.py."""
