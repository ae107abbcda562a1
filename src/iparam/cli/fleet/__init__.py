"""`iparam fleet ...` and `iparam study ...`: many logs, many runs."""
