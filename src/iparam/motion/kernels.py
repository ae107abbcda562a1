"""Compiled recursions of the joint Kalman smoother: one joint, any time stamps.

Everything is in the units of the model: time in 1 / omega, so that state i is d^i q/dt^i / omega^i, and variances in
those of one angle sample. That keeps all matrices near 1 whatever the bandwidth and the sampling rate.

At a steady rate the covariances soon reach a limit. Samples that share their covariances share a ``slot``, and then
a sample costs a few dozen operations instead of a few hundred.
"""

from __future__ import annotations

from iparam.robot.kernels.compilation import compiled, part
from iparam.robot.kernels.workspace import zeros

SAME_STEP = 1e-9  # relative difference up to which two time steps count as one: the rounding of stamps, not jitter
SETTLED = 1e-12  # relative change below which a covariance is taken for its limit
NEARLY_SETTLED = 1e-5  # the same where models are only compared: scores then differ by about as little


@part
def write_transition(h, f):
    """The transition F over a scaled step ``h`` of a chain of m integrators."""
    m = f.shape[0]
    for i in range(m):
        entry = 1.0
        for j in range(i, m):
            if j > i:
                entry *= h / (j - i)
            f[i, j] = entry


@part
def predict_covariance(f, h, intensity, p, out, work):
    """Write out = F P F' + Q for an upper triangular F, with the process noise Q of a step ``h``.

    Q_ij is the integral of F_i,m-1(s) F_j,m-1(s) over the step, times the intensity.
    """
    m = f.shape[0]
    for i in range(m):
        for j in range(m):
            total = 0.0
            for k in range(i, m):
                total += f[i, k] * p[k, j]
            work[i, j] = total
    for i in range(m):
        for j in range(i, m):
            total = intensity * f[i, m - 1] * f[j, m - 1] * h / (2 * m - 1 - i - j)
            for k in range(j, m):
                total += work[i, k] * f[j, k]
            out[i, j] = total
            out[j, i] = total


@part
def is_settled(a, b, tolerance):
    """Whether no entry changed by more than ``tolerance`` of the standard deviations it belongs to."""
    for i in range(a.shape[0]):
        for j in range(i + 1):
            if (a[i, j] - b[i, j]) ** 2 >= tolerance**2 * (abs(a[i, i] * a[j, j]) + 1e-300):
                return False
    return True


@part
def copy_matrix(a, out):
    """Out = a, entry by entry: numba takes seconds to compile the error of an assignment whose shapes might differ."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]


@compiled
def forward(steps, y, noise, intensities, x, p, tolerance, innovations, slots, gains, predicted, covariances):
    """Kalman filter over y (T, R), all scaled. Called again with the next samples, it goes on where it was.

    Args:
        steps: (T,) the time step before each sample; 0 before the first of all.
        y: (T, R) the samples: of the angle, and where R is 2 of its first derivative.
        noise: (R,) variances of the noise of each.
        intensities: (T,) of the process noise during each step.
        x, p: (m,) and (m, m) the state after the sample before, or the prior where steps[0] is 0. Changed: the state
            after the last sample.
        tolerance: relative change below which a covariance is taken for its limit.
        innovations: (T, R) output.
        slots: (T,) output, the row of gains and covariances that belongs to each sample.
        gains: (T, R, m + 1) output, [K, S] of one measurement after the other, by slot.
        predicted: (T, m) output, the predicted states; with no rows, neither these nor their covariances are written.
        covariances: (T, m, m) output, of the predicted states, by slot.
    """
    (count, rows), m = y.shape, x.shape[0]
    kept = predicted.shape[0] > 0
    f, work, c, previous = zeros((m, m)), zeros((m, m)), zeros((m, m)), zeros((m, m))
    step, driven, settled, slot = -1.0, -1.0, False, -1
    for k in range(count):
        h = steps[k]
        if h > 0.0:
            if abs(h - step) > SAME_STEP * h:
                write_transition(h, f)
                step, settled = h, False
            if intensities[k] != driven:
                driven, settled = intensities[k], False
            for i in range(m):
                total = 0.0
                for j in range(i, m):
                    total += f[i, j] * x[j]
                x[i] = total
        if not settled:
            slot += 1
            if h > 0.0:
                predict_covariance(f, step, driven, p, c, work)
                settled = slot > 0 and is_settled(c, previous, tolerance)
            else:
                copy_matrix(p, c)
            if kept:
                copy_matrix(c, covariances[slot])
            copy_matrix(c, previous)
            copy_matrix(c, p)
            for row in range(rows):
                write_gain(p, row, noise[row], gains[slot, row])
                correct_covariance(gains[slot, row], p)
        slots[k] = slot
        if kept:
            for i in range(m):
                predicted[k, i] = x[i]
        for row in range(rows):
            innovation = y[k, row] - x[row]
            innovations[k, row] = innovation
            for i in range(m):
                x[i] += gains[slot, row, i] * innovation


@part
def write_gain(p, row, noise, gain):
    """Write [K, S] of a measurement of state ``row`` with a covariance P of the state before it."""
    m = p.shape[0]
    gain[m] = p[row, row] + noise
    for i in range(m):
        gain[i] = p[i, row] / gain[m]


@part
def correct_covariance(gain, p):
    """Update P <- P - K S K'."""
    m = p.shape[0]
    for i in range(m):
        for j in range(i + 1):
            p[i, j] -= gain[i] * gain[m] * gain[j]
    for i in range(m):
        for j in range(i):
            p[j, i] = p[i, j]


@compiled
def backward(
    steps,
    innovations,
    slots,
    gains,
    predicted,
    covariances,
    adjoint,
    information,
    tolerance,
    first,
    every,
    means,
    variances,
):
    """Bryson-Frazier smoother over what `forward` wrote. Called again with the samples before, it goes on.

    Args:
        steps, innovations, slots, gains, predicted, covariances: as in `forward`.
        adjoint: (m,) and information: (m, m), of what is known after the last sample; zeros if nothing is. Changed: of
            what is known after the sample before the first.
        tolerance: as in `forward`.
        first: number of the first sample in the whole series.
        every: of every how many samples of the whole series the covariance is wanted.
        means: (T, d) output, the first d states.
        variances: (V, d, d) output, the covariances of those samples of the whole series.
    """
    count, m = predicted.shape
    depth, rows = means.shape[1], gains.shape[1]
    f, work, previous, turned = zeros((m, m)), zeros((m, m)), zeros((m, m)), zeros(m)
    smoothed, after = zeros((depth, depth)), zeros((m, m))
    step, settled = -1.0, False
    for k in range(count - 1, -1, -1):
        gain, c = gains[slots[k]], covariances[slots[k]]
        for row in range(rows - 1, -1, -1):
            adjoint[row] -= pulled_innovation(gain[row], innovations[k, row], adjoint)
        for i in range(depth):
            total = predicted[k, i]
            for j in range(m):
                total -= c[i, j] * adjoint[j]
            means[k, i] = total
        h = steps[k]
        same = k > 0 and slots[k] == slots[k - 1]
        if not same or abs(h - step) > SAME_STEP * h:
            settled = False  # before this sample's part is added, or it would be missing from what comes before
        if not settled:
            # From the state after the sample: what is known before the first is so wide that rounding would decide.
            copy_matrix(c, after)
            for row in range(rows):
                correct_covariance(gain[row], after)
            write_smoothed(after, information, work, smoothed)
            for row in range(rows - 1, -1, -1):
                correct_information(gain[row], row, information, turned)
        if (first + k) % every == 0:
            copy_matrix(smoothed, variances[(first + k) // every])
        if h == 0.0:
            break
        if abs(h - step) > SAME_STEP * h:
            write_transition(h, f)
            step = h
        pull_back_adjoint(f, adjoint)
        if not settled:
            pull_back(f, information, work)
            settled = same and is_settled(information, previous, tolerance)
            copy_matrix(information, previous)


@compiled
def backward_sums(steps, innovations, slots, gains, noise, adjoint, information, tolerance):
    """What `backward` would leave of the samples: (sum of squared residuals, sum of variances), in those of the noise.

    A smoothed measurement's residual is its noise variance R times innovation / S + K' lambda, and its variance
    R - R^2 (1 / S + K' Lambda K), so that no state needs to be known. Arguments as in `forward` and `backward`.
    """
    (count, rows), m = innovations.shape, adjoint.shape[0]
    f, work, previous, turned = zeros((m, m)), zeros((m, m)), zeros((m, m)), zeros(m)
    step, settled = -1.0, False
    squares, variances, here = 0.0, 0.0, 0.0
    for k in range(count - 1, -1, -1):
        gain = gains[slots[k]]
        for row in range(rows - 1, -1, -1):
            pulled = pulled_innovation(gain[row], innovations[k, row], adjoint)
            adjoint[row] -= pulled
            squares += noise[row] * pulled**2
        h = steps[k]
        same = k > 0 and slots[k] == slots[k - 1]
        if not same or abs(h - step) > SAME_STEP * h:
            settled = False
        if not settled:
            here = 0.0
            for row in range(rows - 1, -1, -1):
                here += 1.0 - noise[row] * correct_information(gain[row], row, information, turned)
        variances += here
        if h == 0.0:
            break
        if abs(h - step) > SAME_STEP * h:
            write_transition(h, f)
            step = h
        pull_back_adjoint(f, adjoint)
        if not settled:
            pull_back(f, information, work)
            settled = same and is_settled(information, previous, tolerance)
            copy_matrix(information, previous)
    return squares, variances


@part
def pull_back_adjoint(f, adjoint):
    """Of an upper triangular transition F: lambda <- F' lambda, in its place."""
    for j in range(adjoint.shape[0] - 1, -1, -1):
        total = 0.0
        for i in range(j + 1):
            total += f[i, j] * adjoint[i]
        adjoint[j] = total


@part
def pulled_innovation(gain, innovation, adjoint):
    """Of the measured state e in lambda <- (I - K e')' lambda - e innovation / S: innovation / S + K' lambda."""
    inner = innovation / gain[-1]
    for i in range(adjoint.shape[0]):
        inner += gain[i] * adjoint[i]
    return inner


@part
def correct_information(gain, row, information, turned):
    """Update Lambda <- (I - K e')' Lambda (I - K e') + e e' / S, with the unit vector e of the measured state.

    Returns 1 / S + K' Lambda K.
    """
    m = information.shape[0]
    inner = 0.0
    for j in range(m):
        total = 0.0
        for i in range(m):
            total += gain[i] * information[i, j]
        turned[j] = total
        inner += total * gain[j]
    for j in range(m):
        information[row, j] -= turned[j]
        information[j, row] -= turned[j]
    inner += 1.0 / gain[m]
    information[row, row] += inner
    return inner


@part
def pull_back(f, information, work):
    """Update Lambda <- F' Lambda F for an upper triangular F."""
    m = f.shape[0]
    for i in range(m):
        for j in range(m):
            total = 0.0
            for k in range(j + 1):
                total += information[i, k] * f[k, j]
            work[i, j] = total
    for i in range(m):
        for j in range(i, m):
            total = 0.0
            for k in range(i + 1):
                total += f[k, i] * work[k, j]
            information[i, j] = total
            information[j, i] = total


@part
def write_smoothed(c, information, work, out):
    """Write out = the leading block of P - P Lambda P."""
    m, depth = c.shape[0], out.shape[0]
    for i in range(depth):
        for j in range(m):
            total = 0.0
            for k in range(m):
                total += c[i, k] * information[k, j]
            work[i, j] = total
    for i in range(depth):
        for j in range(i + 1):
            total = c[i, j]
            for k in range(m):
                total -= work[i, k] * c[k, j]
            out[i, j] = total
            out[j, i] = total


@compiled
def predict_and_correct(state, transition, gain, q, predicted, innovation):
    """One step of a steady Kalman filter of n angles with m derivatives each.

    Args:
        state: (m, n) the estimate, changed in place.
        transition: (m, m) upper triangular, over the step.
        gain: (m,).
        q: (n,) measured.
        predicted: (3, n) output, the first three rows of the state before the correction.
        innovation: (n,) output.
    """
    order, count = state.shape
    for k in range(count):
        for i in range(order):
            total = 0.0
            for j in range(i, order):  # upwards: the entries below are still the old ones
                total += transition[i, j] * state[j, k]
            state[i, k] = total
        for i in range(3):
            predicted[i, k] = state[i, k]
        innovation[k] = q[k] - state[0, k]
        for i in range(order):
            state[i, k] += gain[i] * innovation[k]


@compiled
def add_innovations(predicted, gains, innovations, oldest, units, out):
    """Write out (3, n) = units (3,) times the prediction (3, n) plus gains (3, L) times the innovations since.

    ``innovations`` (L, n) is a ring; ``oldest`` is the place of the one that belongs to the prediction.
    """
    length, count = innovations.shape
    for i in range(3):
        for k in range(count):
            out[i, k] = predicted[i, k]
    for step in range(length):
        place = (oldest + step) % length
        for i in range(3):
            for k in range(count):
                out[i, k] += gains[i, step] * innovations[place, k]
    for i in range(3):
        for k in range(count):
            out[i, k] *= units[i]
