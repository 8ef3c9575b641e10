// Parameters of the loops of qbinary: see the plain form.
words 0, p_x, p_x_row, p_x_step, p_w, p_w_row, p_w_step, p_out, p_rows, p_items, p_flip
words 40, p_a, p_b, p_c, p_a_low, p_b_low, p_c_low, p_bits, p_zy // of qadd8
words 40, p_zx, p_zw, p_limit, p_shift, p_high, p_low, p_z_out // of qmul8
