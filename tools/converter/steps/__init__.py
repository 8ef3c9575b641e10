"""What steps say of themselves, for who cuts, moves and overlays them."""
