"""Write the planned graph to the bytes of the file, with what belongs to it besides the graph."""
