"""The simulated arm in MuJoCo: its model, its contacts, its controller and its sensors."""
