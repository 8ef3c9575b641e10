// Parameters of block_dot, block_narrow (which alone has bits) and short_dot: see the plain form.
words 0, p_x, p_rows, p_row_step, p_items, p_weights, p_channels, p_out, p_bits
