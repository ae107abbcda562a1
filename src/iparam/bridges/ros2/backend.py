"""The one place that imports ROS 2: rclpy and the messages that the nodes exchange."""

from __future__ import annotations

from iparam.errors import MissingExtraError

try:
    import rclpy
    from action_msgs.msg import GoalStatus
    from builtin_interfaces.msg import Duration
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
    from geometry_msgs.msg import AccelStamped, Inertia, InertiaStamped, TwistStamped, WrenchStamped
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
    from rclpy.action.client import ActionClient
    from rclpy.callback_groups import ReentrantCallbackGroup
    from rclpy.duration import Duration as TimeSpan
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
    from rclpy.exceptions import ParameterUninitializedException
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.impl.implementation_singleton import rclpy_implementation
    from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
    from rclpy.node import Node
    from rclpy.parameter import Parameter as RosParameter
    from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy, qos_policy_name_from_kind
    from rclpy.signals import SignalHandlerOptions
    from rclpy.task import Future
    from sensor_msgs.msg import Imu, JointState
    from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String
    from std_srvs.srv import Trigger
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
except ImportError as error:
    name = (error.name or "rclpy").partition(".")[0]
    raise MissingExtraError(f"{name} (a sourced ROS 2 installation brings it, too)", "ros2") from error

INPUT_DEPTH = 5_000
"""Messages that may wait: ten seconds at 500 Hz, in case the machine is busy elsewhere."""


def sensor_qos(reliable: bool = False) -> QoSProfile:
    """Of the inputs: best effort goes with reliable publishers and with best-effort ones."""
    wanted = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
    return QoSProfile(depth=INPUT_DEPTH, history=HistoryPolicy.KEEP_LAST, reliability=wanted)


OUTPUT_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
DESCRIPTION_QOS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
STATIC_TRANSFORM_QOS = QoSProfile(
    depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
TRANSFORM_QOS = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)

WaitSet = rclpy_implementation.WaitSet
QUIET = PublisherEventCallbacks(use_default_callbacks=False)
"""For outputs: rclpy looks at each event of each publisher whenever it looks at a node, and none is of interest."""
