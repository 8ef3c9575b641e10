"""Activity in a room: a random forest over slow sensors."""
