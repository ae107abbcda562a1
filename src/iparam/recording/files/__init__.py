"""The files that recordings are kept in: CSV, text of controllers, Parquet."""
