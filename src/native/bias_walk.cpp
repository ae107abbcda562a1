// A sensor channel whose bias walks: each sample is predicted from those before it.
#include "workspace.hpp"

using namespace IPARAM_PATH;

// Write whitened (N, m): what each row of series (N, m) adds to its prediction, divided by its standard deviation, and
// that squared, variances (N). The bias is a random walk, which gains `ratio` times the noise's variance in a second,
// under white noise of variance 1; steps (N - 1) are the times between rows. Nothing is known of its first value: the
// first row only starts the prediction, and of it 0 is left.
KERNEL(void, whiten_walk)(long long samples, long long columns, double ratio, const double* series, const double* steps,
    double* __restrict whitened, double* __restrict variances)
{
    Numbers level(columns);
    for (long long j = 0; j < columns; j++) {
        level[j] = series[j];
        whitened[j] = 0.0;
    }
    variances[0] = 1.0;
    double variance = 1.0;
    for (long long k = 1; k < samples; k++) {
        variance += ratio * steps[k - 1];
        const double total = variance + 1.0, gain = variance / total, scale = 1.0 / __builtin_sqrt(total);
        for (long long j = 0; j < columns; j++) {
            const double added = series[k * columns + j] - level[j];
            whitened[k * columns + j] = scale * added;
            level[j] += gain * added;
        }
        variance /= total;
        variances[k] = total;
    }
}
