"""Two models in one arena: a tap on the board has it look at its camera."""
