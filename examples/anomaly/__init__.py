"""Anomalies of a motor: an autoencoder over the spectrum of its vibration."""
