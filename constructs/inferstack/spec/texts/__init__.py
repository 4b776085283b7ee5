"""What single texts of a spec say: placeholders, statistics, addresses."""
