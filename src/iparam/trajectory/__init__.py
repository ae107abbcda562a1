"""Joint motions with exact derivatives: Fourier families, splines, blends, and the files they are kept in."""

from iparam.trajectory.blend import BlendedTrajectory
from iparam.trajectory.fourier import FourierTrajectory
from iparam.trajectory.integrated_fourier import IntegratedFourierTrajectory
from iparam.trajectory.spline import QuinticSpline, SepticSpline
from iparam.trajectory.spline_fourier import SplineFourierTrajectory
from iparam.trajectory.storage import TrajectoryFile, load_trajectory, save_trajectory
from iparam.trajectory.trajectory import JointMotion, Trajectory
from iparam.trajectory.windowed_fourier import WindowedFourierTrajectory

__all__ = [
    "BlendedTrajectory",
    "FourierTrajectory",
    "IntegratedFourierTrajectory",
    "JointMotion",
    "QuinticSpline",
    "SepticSpline",
    "SplineFourierTrajectory",
    "Trajectory",
    "TrajectoryFile",
    "WindowedFourierTrajectory",
    "load_trajectory",
    "save_trajectory",
]
