// Parameters of the loops of depthwise: see the plain form.
words 0, p_planes, p_plane_bytes, p_plane_count, p_channels, p_kh, p_kw, p_ky_step
words 28, p_kx_step, p_oh, p_ow, p_y_step, p_x_step, p_table, p_weights, p_out
words 60, p_channel_step, p_position_step, p_zw, p_zy, p_lo, p_hi, p_table_in_x
