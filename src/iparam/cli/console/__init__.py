"""What commands print, write and are interrupted by."""
