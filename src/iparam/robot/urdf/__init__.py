"""URDF files: arms read from them and written to them."""
