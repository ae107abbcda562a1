"""The simulated arm in Newton, on its MuJoCo solver for many worlds at once: its model and its run."""
