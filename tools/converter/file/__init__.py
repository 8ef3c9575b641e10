"""Write the planned graph as the bytes of the file, with everything that belongs to the file."""
