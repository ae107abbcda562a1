"""Mass and centre of mass from an arm at rest."""
