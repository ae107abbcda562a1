"""RTDE, the real-time protocol of UR controllers: its frames, its fields, a client."""
