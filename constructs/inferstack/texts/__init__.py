"""What single strings mean: placeholders, statistics, addresses, names of files."""
