"""Properties of kernels' steps that let the planner overlay, cut and move them."""
