"""What an estimate is worth: its residuals, its verdict, other methods, other runs."""
