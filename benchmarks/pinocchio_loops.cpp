// Pinocchio's algorithms over many states of one arm, in C++ as its own users call them; bench_rigid_body.py compiles it.
#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <string>

using namespace pinocchio;

struct Arm {
    Model model;
    Data data;
    FrameIndex tool;
};

typedef Eigen::Map<const Eigen::VectorXd> State;

static SE3 pose(const double* rows) { return SE3(Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(rows)); }

template <class Algorithm>
static void each(
    const Arm* arm, long long samples, const double* q, const double* dq, const double* ddq, Algorithm algorithm)
{
    const long long n = arm->model.nv;
    for (long long k = 0; k < samples; k++)
        algorithm(State(q + k * n, n), State(dq + k * n, n), State(ddq + k * n, n));
}

extern "C" {

// Joints that turn about x (0), y (1) or z (2) of their frames: poses (n, 4, 4) in the frame before, and the tool's (4, 4)
// in the last; mass (n), centre (n, 3) and inertia about it (n, 3, 3) of each body.
Arm* make_arm(long long n, const long long* axes, const double* origins, const double* tool, const double* mass,
    const double* centre, const double* inertia)
{
    Model model;
    for (long long i = 0; i < n; i++) {
        const SE3 origin = pose(origins + 16 * i);
        const std::string name = "joint" + std::to_string(i);
        const JointIndex joint = axes[i] == 0 ? model.addJoint(i, JointModelRX(), origin, name)
            : axes[i] == 1                    ? model.addJoint(i, JointModelRY(), origin, name)
                                              : model.addJoint(i, JointModelRZ(), origin, name);
        const Inertia body(mass[i], Eigen::Map<const Eigen::Vector3d>(centre + 3 * i),
            Eigen::Map<const Eigen::Matrix3d>(inertia + 9 * i));
        model.appendBodyToJoint(joint, body);
    }
    const FrameIndex frame = model.addFrame(Frame("tool", n, 0, pose(tool), OP_FRAME));
    return new Arm {model, Data(model), frame};
}

// tau (n) of one state: whether the arm is the one that was meant.
void torques(Arm* arm, const double* q, const double* dq, const double* ddq, double* tau)
{
    const long long n = arm->model.nv;
    Eigen::Map<Eigen::VectorXd>(tau, n) = rnea(arm->model, arm->data, State(q, n), State(dq, n), State(ddq, n));
}

void tool_motion(Arm* arm, long long samples, const double* q, const double* dq, const double* ddq)
{
    each(arm, samples, q, dq, ddq, [&](const State& q, const State& dq, const State& ddq) {
        forwardKinematics(arm->model, arm->data, q, dq, ddq);
        updateFramePlacement(arm->model, arm->data, arm->tool);
        getFrameVelocity(arm->model, arm->data, arm->tool);
        getFrameClassicalAcceleration(arm->model, arm->data, arm->tool);
    });
}

void wrench_regressor(Arm* arm, long long samples, const double* q, const double* dq, const double* ddq)
{
    each(arm, samples, q, dq, ddq, [&](const State& q, const State& dq, const State& ddq) {
        rnea(arm->model, arm->data, q, dq, ddq); // the accelerations with gravity, which the regressor needs
        frameBodyRegressor(arm->model, arm->data, arm->tool);
    });
}

void inverse_dynamics(Arm* arm, long long samples, const double* q, const double* dq, const double* ddq)
{
    each(arm, samples, q, dq, ddq,
        [&](const State& q, const State& dq, const State& ddq) { rnea(arm->model, arm->data, q, dq, ddq); });
}

void mass_matrix(Arm* arm, long long samples, const double* q, const double* dq, const double* ddq)
{
    each(arm, samples, q, dq, ddq, [&](const State& q, const State&, const State&) { crba(arm->model, arm->data, q); });
}

void joint_torque_regressor(Arm* arm, long long samples, const double* q, const double* dq, const double* ddq)
{
    each(arm, samples, q, dq, ddq, [&](const State& q, const State& dq, const State& ddq) {
        computeJointTorqueRegressor(arm->model, arm->data, q, dq, ddq);
    });
}
}
