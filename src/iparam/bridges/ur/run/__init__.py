"""Moving a UR arm, under guard."""
