"""What single strings mean: placeholders, ARNs, S3 URLs, statistics."""
