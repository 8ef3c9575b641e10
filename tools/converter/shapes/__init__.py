"""Shape and dtype of every value, also where a run decides them."""
