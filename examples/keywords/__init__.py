"""Keywords: a small network over log-mel spectra of synthesised words."""
