"""What single strings in a spec mean: placeholders, statistics, addresses."""
