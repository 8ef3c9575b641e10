"""From the planned graph to the bytes of the file, and what goes into it beside the graph."""
