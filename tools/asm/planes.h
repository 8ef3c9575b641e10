// Parameters of planes: see the plain form.
words 0, p_x, p_planes, p_plane_step, p_h, p_rows, p_row_step, p_column_step, p_row_bytes
words 32, p_left, p_items, p_out, p_first_row, p_flip, p_padding
