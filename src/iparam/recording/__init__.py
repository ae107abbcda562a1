"""What was measured in a run: recordings, the files they are kept in, filters and time alignment."""

from iparam.recording.buffer import DataBuffer, EstimationData, SensorData
from iparam.recording.channels import CHANNELS, Channel
from iparam.recording.delay import Delay, estimate_delay
from iparam.recording.filtered_motion import FilteredMotion
from iparam.recording.filtering import butterworth_smooth, savitzky_golay_smooth
from iparam.recording.joint_process import JointProcess
from iparam.recording.kalman import JointEstimate, JointKalmanFilter, kalman_filter, kalman_smooth
from iparam.recording.process_choice import choose_causal_processes, choose_processes
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.recording.synchronization import AlignedSamples, align

__all__ = [
    "CHANNELS",
    "AlignedSamples",
    "Channel",
    "DataBuffer",
    "Delay",
    "EstimationData",
    "FilteredMotion",
    "JointEstimate",
    "JointKalmanFilter",
    "JointProcess",
    "Recording",
    "SensorData",
    "Signal",
    "align",
    "butterworth_smooth",
    "choose_causal_processes",
    "choose_processes",
    "estimate_delay",
    "kalman_filter",
    "kalman_smooth",
    "savitzky_golay_smooth",
]
