"""The drives of an arm: their gains, from several sources, and how far these agree with one another."""
