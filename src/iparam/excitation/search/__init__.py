"""The search for the motion that tells most."""
