// Parameters of patches: see the plain form.
words 0, p_x, p_channels, p_kh, p_kw, p_c_step, p_ky_step, p_kx_step, p_h, p_w, p_dilation_h
words 40, p_dilation_w, p_stride_h, p_stride_w, p_y_step, p_x_step, p_width, p_row, p_column
words 72, p_flip, p_padding, p_positions, p_tail, p_corner_y, p_corner_x
