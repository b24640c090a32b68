"""What each schedule directive does to a plan, by family, and its errors."""
