// Parameters of sums of gated: see the plain form.
words 0, p_x_row, p_x_items, p_h_row, p_h_items, p_weights, p_rows, p_out, p_is_argument
