// The smoother of Bryson and Frazier, backwards over what the filter of a joint wrote: the adjoint lambda of the state
// and its information Lambda gather what the later samples tell, and the smoothed state is x - P lambda, its covariance
// P - P Lambda P.
#include "integrators.hpp"

using namespace IPARAM_PATH;

namespace {

// What the later samples tell, and whether Lambda has reached its limit.
template <int M> struct Later {
    Transition<M> f;
    Square<M> before;
    bool settled = false;

    // Of sample k: whether Lambda is to be followed still.
    bool follows(const double* steps, const long long* slots, long long k)
    {
        // Decided before this sample's part is added, or it would be missing from what comes before.
        if (!shared(slots, k) || !f.same(steps[k], f.step))
            settled = false;
        return !settled;
    }

    // To the sample before, over a step h.
    void pull_back(
        double h, const long long* slots, long long k, double tolerance, double* lambda, Square<M>& information)
    {
        if (!f.same(h, f.step))
            f.over(h);
        f.pull_back(lambda);
        if (!settled) {
            f.pull_back(information);
            settled = shared(slots, k) && is_settled(information, before, tolerance);
            before = information;
        }
    }

    static bool shared(const long long* slots, long long k) { return k > 0 && slots[k] == slots[k - 1]; }
};

// The leading (depth, depth) block of P - P Lambda P.
template <int M> void write_smoothed(const Square<M>& p, const Square<M>& information, long long depth, double* out)
{
    for (long long i = 0; i < depth; i++) {
        double row[M];
        for (int j = 0; j < M; j++) {
            row[j] = 0.0;
            for (int k = 0; k < M; k++)
                row[j] += p[i][k] * information[k][j];
        }
        for (long long j = 0; j <= i; j++) {
            double total = p[i][j];
            for (int k = 0; k < M; k++)
                total -= row[k] * p[k][j];
            out[i * depth + j] = out[j * depth + i] = total;
        }
    }
}

} // namespace

// steps to noise: as in joint_filter. adjoint (m) and information (m, m): of what is known after the last sample, zeros
// if nothing is, and then of what is known after the sample before the first. `first` is the number of the first sample
// in the whole series, and the covariance is wanted of every `every`th one of these. Outputs: means (T, d), the first d
// states, and variances (V, d, d) of the whole series.
KERNEL(void, joint_smoother)(long long samples, long long rows, long long order, long long depth, long long first,
    long long every, double tolerance, const double* steps, const double* innovations, const long long* slots,
    const double* gains, const double* predicted, const double* covariances, const double* noise, double* adjoint,
    double* information, double* __restrict means, double* __restrict variances)
{
    for_order(order, [&](auto size) {
        constexpr int M = size.value;
        const Gain<M>* of_slot = reinterpret_cast<const Gain<M>*>(gains);
        Square<M>& told = *reinterpret_cast<Square<M>*>(information);
        Later<M> later;
        double lambda[M], smoothed[M * M] = {};
        for (int i = 0; i < M; i++)
            lambda[i] = adjoint[i];
        for (long long k = samples - 1; k >= 0; k--) {
            const Gain<M>* gain = of_slot + slots[k] * rows;
            const Square<M>& p = reinterpret_cast<const Square<M>*>(covariances)[slots[k]];
            for (long long row = rows - 1; row >= 0; row--)
                gain[row].pull_back(lambda, row, innovations[k * rows + row]);
            for (long long i = 0; i < depth; i++) {
                double total = predicted[k * M + i];
                for (int j = 0; j < M; j++)
                    total -= p[i][j] * lambda[j];
                means[k * depth + i] = total;
            }
            if (later.follows(steps, slots, k)) {
                // From the state after the sample: what is known before the first is so wide that rounding would
                // decide.
                Square<M> after = p;
                for (long long row = 0; row < rows; row++)
                    gain[row].correct(after, row, noise[row]);
                write_smoothed(after, told, depth, smoothed);
                for (long long row = rows - 1; row >= 0; row--)
                    gain[row].pull_back(told, row);
            }
            if ((first + k) % every == 0)
                for (long long i = 0; i < depth * depth; i++)
                    variances[(first + k) / every * depth * depth + i] = smoothed[i];
            if (steps[k] == 0.0)
                break;
            later.pull_back(steps[k], slots, k, tolerance, lambda, told);
        }
        for (int i = 0; i < M; i++)
            adjoint[i] = lambda[i];
    });
}

// What joint_smoother would leave of the samples, sums (2): of squared residuals and of variances, in those of the
// noise. A smoothed measurement's residual is its noise variance R times innovation / S + K' lambda, and its variance
// R - R^2 (1 / S + K' Lambda K), so that no state needs to be known.
KERNEL(void, joint_residuals)(long long samples, long long rows, long long order, double tolerance, const double* steps,
    const double* innovations, const long long* slots, const double* gains, const double* noise, double* adjoint,
    double* information, double* sums)
{
    for_order(order, [&](auto size) {
        constexpr int M = size.value;
        const Gain<M>* of_slot = reinterpret_cast<const Gain<M>*>(gains);
        Square<M>& told = *reinterpret_cast<Square<M>*>(information);
        Later<M> later;
        double lambda[M], squares = 0.0, variances = 0.0, here = 0.0;
        for (int i = 0; i < M; i++)
            lambda[i] = adjoint[i];
        for (long long k = samples - 1; k >= 0; k--) {
            const Gain<M>* gain = of_slot + slots[k] * rows;
            for (long long row = rows - 1; row >= 0; row--) {
                const double pulled = gain[row].pull_back(lambda, row, innovations[k * rows + row]);
                squares += noise[row] * (pulled * pulled);
            }
            if (later.follows(steps, slots, k)) {
                here = 0.0;
                for (long long row = rows - 1; row >= 0; row--)
                    here += 1.0 - noise[row] * gain[row].pull_back(told, row);
            }
            variances += here;
            if (steps[k] == 0.0)
                break;
            later.pull_back(steps[k], slots, k, tolerance, lambda, told);
        }
        for (int i = 0; i < M; i++)
            adjoint[i] = lambda[i];
        sums[0] = squares;
        sums[1] = variances;
    });
}
