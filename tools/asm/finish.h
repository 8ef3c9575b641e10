// Parameters of finish of block_finish and short: see the plain form.
words 0, p_sums, p_positions, p_channels, p_aligned, p_out, p_position_step, p_channel_step
words 28, p_row_step, p_rows, p_skipped, p_low_sign, p_low, p_high_sign, p_high
words 56, p_keeps_larger
