// The Kalman filter of one joint, forwards in time.
//
// At a steady rate the covariances soon reach a limit. Samples that share their covariances share a slot, and then a
// sample costs a few dozen operations instead of a few hundred.
#include "integrators.hpp"

using namespace IPARAM_PATH;

// Filter y (T, R), samples of the angle and where R is 2 of its first derivative. Called again with the next samples,
// it goes on where it was. steps (T): the time before each sample, 0 before the first of all; noise (R): variances;
// intensities (T): of the process noise during each step; x (m) and p (m, m): the state after the sample before, or the
// prior where steps[0] is 0, and then the state after the last sample. Outputs: innovations (T, R); slots (T), the row
// of gains and covariances of each sample; gains (T, R, m + 1), [K, S] of one measurement after the other; predicted
// (T, m) states and their covariances (T, m, m), both null where they are not wanted.
KERNEL(void, joint_filter)(long long samples, long long rows, long long order, double tolerance, const double* steps,
    const double* y, const double* noise, const double* intensities, double* state, double* covariance,
    double* __restrict innovations, long long* __restrict slots, double* __restrict gains, double* __restrict predicted,
    double* __restrict covariances)
{
    for_order(order, [&](auto size) {
        constexpr int M = size.value;
        Square<M>& p = *reinterpret_cast<Square<M>*>(covariance);
        Gain<M>* of_slot = reinterpret_cast<Gain<M>*>(gains);
        Transition<M> f;
        Square<M> before;
        double x[M];
        for (int i = 0; i < M; i++)
            x[i] = state[i];
        double driven = -1.0;
        bool settled = false;
        long long slot = -1;
        for (long long k = 0; k < samples; k++) {
            const double h = steps[k];
            if (h > 0.0) {
                if (!f.same(h, f.step)) {
                    f.over(h);
                    settled = false;
                }
                if (intensities[k] != driven) {
                    driven = intensities[k];
                    settled = false;
                }
                f.advance(x);
            }
            if (!settled) {
                slot++;
                if (h > 0.0) {
                    f.advance(p, driven);
                    settled = slot > 0 && is_settled(p, before, tolerance);
                }
                if (predicted)
                    reinterpret_cast<Square<M>*>(covariances)[slot] = p;
                before = p;
                for (long long row = 0; row < rows; row++) {
                    of_slot[slot * rows + row].of(p, row, noise[row]);
                    of_slot[slot * rows + row].correct(p, row, noise[row]);
                }
            }
            slots[k] = slot;
            if (predicted)
                for (int i = 0; i < M; i++)
                    predicted[k * M + i] = x[i];
            for (long long row = 0; row < rows; row++) {
                const Gain<M>& gain = of_slot[slot * rows + row];
                const double innovation = y[k * rows + row] - x[row];
                innovations[k * rows + row] = innovation;
                for (int i = 0; i < M; i++)
                    x[i] += gain.k[i] * innovation;
            }
        }
        for (int i = 0; i < M; i++)
            state[i] = x[i];
    });
}
