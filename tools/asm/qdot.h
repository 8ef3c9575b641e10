// Parameters of the loops of qdot: see the plain form.
words 0, p_weights, p_table, p_kp, p_positions, p_channels, p_out, p_position_step
words 28, p_channel_step, p_zw, p_zy, p_lo, p_hi, p_x, p_x_step, p_has_sums, p_table_in_x
words 64, p_room
words 36, p_zx // of qdot32
