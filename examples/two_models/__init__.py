"""Two models in one arena: a tap on the board makes it look at its camera."""
