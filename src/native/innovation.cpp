// What the innovation of one wrench sample tells: e = W (y - [A, 1] x), of covariance S = 1 + H P H' with H = W [A, 1].
#include "cholesky.hpp"

using namespace IPARAM_PATH;

// Add H' S^-1 e to the score (p) and the diagonal of H' S^-1 H to the information (p). whiten (6, 6): W, lower
// triangular; design (6, 10): A; wrench (6): y; parameters (p) and covariance (p, p): x and P, p at most 16, with 16
// the bias is in them. Returns e' S^-1 e / 6.
KERNEL(double, add_innovation)(long long p, const double* whiten, const double* design, const double* wrench,
    const double* parameters, const double* covariance, double* score, double* information)
{
    constexpr int ROWS = 6, KNOWN = 10, MOST = KNOWN + ROWS;
    double h[ROWS][MOST] = {}, spread[ROWS][MOST], s[ROWS * ROWS], right[ROWS * (MOST + 1)];
    const long long columns = p + 1;
    for (int i = 0; i < ROWS; i++) {
        double innovation = 0.0;
        for (int k = 0; k <= i; k++) {
            const double w = whiten[i * ROWS + k];
            for (int j = 0; j < KNOWN; j++)
                h[i][j] += w * design[k * KNOWN + j];
            if (p > KNOWN)
                h[i][KNOWN + k] = w;
            innovation += w * wrench[k];
        }
        for (long long j = 0; j < p; j++) {
            innovation -= h[i][j] * parameters[j];
            right[i * columns + 1 + j] = h[i][j];
        }
        right[i * columns] = innovation;
    }
    for (int i = 0; i < ROWS; i++) {
        for (long long j = 0; j < p; j++)
            spread[i][j] = 0.0;
        for (long long k = 0; k < p; k++)
            for (long long j = 0; j < p; j++)
                spread[i][j] += h[i][k] * covariance[k * p + j];
        for (int k = 0; k <= i; k++) {
            double total = i == k ? 1.0 : 0.0;
            for (long long j = 0; j < p; j++)
                total += spread[i][j] * h[k][j];
            s[i * ROWS + k] = total;
        }
    }
    factor_and_reduce(s, ROWS, right, columns);
    double square = 0.0;
    for (int i = 0; i < ROWS; i++) {
        const double* row = right + i * columns;
        square += row[0] * row[0];
        for (long long j = 0; j < p; j++) {
            score[j] += row[1 + j] * row[0];
            information[j] += row[1 + j] * row[1 + j];
        }
    }
    return square / ROWS;
}
