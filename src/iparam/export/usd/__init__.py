"""OpenUSD: the load as a rigid body of its own, or in the mass properties (UsdPhysics MassAPI) of a body in a stage."""
