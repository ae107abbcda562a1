// What samples tell of a change of the load, the load before it being known as it was.
#include "cholesky.hpp"
#include "workspace.hpp"

using namespace IPARAM_PATH;

// Of a change of the first k of p unknowns by shape (k) times u: information (k, k) on u and score (k), outputs.
// products (6, p + 1, p + 1): sums of products of [design, y] for each of their six parts, of inverse variances weights
// (6); errors (k, k): what errors in the design are expected to add to the weighted products of its first columns;
// parameters (p) and root (p, p): the state as it was known, and a lower triangular root L of its covariance. With the
// information G of the samples on the state, what they tell of the change is G - G L (1 + L' G L)^-1 L' G.
KERNEL(void, change_information)(long long p, long long k, const double* products, const double* errors,
    const double* weights, const double* parameters, const double* root, const double* shape, double* information,
    double* score)
{
    const long long wide = p + 1;
    Numbers gram(p * wide), seen(p * p), known(p * p), taken(p * (k + 1));
    for (long long i = 0; i < p; i++) {
        double* row = gram + i * wide;
        for (int c = 0; c < 6; c++)
            for (long long j = 0; j < wide; j++)
                row[j] += weights[c] * products[(c * wide + i) * wide + j];
        for (long long j = 0; j < p; j++) {
            row[p] -= row[j] * parameters[j];
            if (i < k && j < k) // an error in the design is in the residual and in what it is multiplied with
                row[p] += errors[i * k + j] * parameters[j];
        }
        for (long long m = 0; m < p; m++)
            for (long long j = 0; j <= m; j++)
                seen[i * p + j] += row[m] * root[m * p + j];
    }
    for (long long i = 0; i < p; i++) {
        for (long long m = i; m < p; m++)
            for (long long j = 0; j <= i; j++)
                known[i * p + j] += root[m * p + i] * seen[m * p + j];
        known[i * p + i] += 1.0;
        for (long long j = 0; j < k; j++)
            taken[i * (k + 1) + j] = seen[j * p + i];
        for (long long m = i; m < p; m++)
            taken[i * (k + 1) + k] += root[m * p + i] * gram[m * wide + p];
    }
    factor_and_reduce(known, p, taken, k + 1);
    for (long long i = 0; i < k; i++) {
        score[i] = gram[i * wide + p];
        for (long long j = 0; j < k; j++)
            information[i * k + j] = gram[i * wide + j];
        for (long long m = 0; m < p; m++) {
            const double* row = taken + m * (k + 1);
            score[i] -= row[i] * row[k];
            for (long long j = 0; j < k; j++)
                information[i * k + j] -= row[i] * row[j];
        }
        score[i] *= shape[i];
        for (long long j = 0; j < k; j++)
            information[i * k + j] *= shape[i] * shape[j];
    }
}
