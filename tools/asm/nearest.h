// Parameters of nearest: see the plain form.
words 0, p_lo, p_hi, p_zero, p_flip, p_nan, p_mask, p_infinity
