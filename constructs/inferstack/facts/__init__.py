"""What a spec says, part by part: its variants, components and containers, and what follows from them."""
