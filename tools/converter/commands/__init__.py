"""What the commands beside the conversion print and write."""
