"""Universal Robots arms: the protocol of their controllers, and a twin that speaks it."""
