// A chain of m integrators driven by white noise, as the model of a joint's motion: state i is d^i q/dt^i / omega^i,
// time is in 1 / omega and variances are in those of one angle sample, which keeps all numbers near 1. Matrices are m x
// m.
#pragma once

#include "kernel.hpp"

namespace IPARAM_PATH {

constexpr double SAME_STEP =
    1e-9; // relative difference up to which two steps count as one: the rounding of stamps, no jitter

template <int M> struct Square {
    double at[M][M];

    double* operator[](int i) { return at[i]; }
    const double* operator[](int i) const { return at[i]; }
};

// F over a step h: F_ij = h^(j - i) / (j - i)! for j >= i, else 0.
template <int M> struct Transition {
    double step = -1.0;
    double power[M]; // h^k / k!

    static bool same(double h, double step) { return __builtin_fabs(h - step) <= SAME_STEP * h; }

    void over(double h)
    {
        step = h;
        power[0] = 1.0;
        for (int k = 1; k < M; k++)
            power[k] = power[k - 1] * (h * (1.0 / k));
    }

    // x <- F x
    void advance(double* x) const
    {
        for (int i = 0; i < M; i++) { // upwards: the entries below are still the old ones
            double total = x[i];
            for (int j = i + 1; j < M; j++)
                total += power[j - i] * x[j];
            x[i] = total;
        }
    }

    // lambda <- F' lambda
    void pull_back(double* lambda) const
    {
        for (int j = M - 1; j >= 0; j--) {
            double total = lambda[j];
            for (int i = 0; i < j; i++)
                total += power[j - i] * lambda[i];
            lambda[j] = total;
        }
    }

    // P <- F P F' + Q. Q_ij is the integral of F_i,m-1(s) F_j,m-1(s) over the step, times the intensity.
    void advance(Square<M>& p, double intensity) const
    {
        Square<M> forward;
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < M; j++) {
                double total = p[i][j];
                for (int k = i + 1; k < M; k++)
                    total += power[k - i] * p[k][j];
                forward[i][j] = total;
            }
        }
        for (int i = 0; i < M; i++) {
            for (int j = i; j < M; j++) {
                const double noise = intensity * step * (1.0 / (2 * M - 1 - i - j));
                double total = noise * (power[M - 1 - i] * power[M - 1 - j]) + forward[i][j];
                for (int k = j + 1; k < M; k++)
                    total += forward[i][k] * power[k - j];
                p[i][j] = p[j][i] = total;
            }
        }
    }

    // Lambda <- F' Lambda F
    void pull_back(Square<M>& information) const
    {
        Square<M> right;
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < M; j++) {
                double total = information[i][j];
                for (int k = 0; k < j; k++)
                    total += information[i][k] * power[j - k];
                right[i][j] = total;
            }
        }
        for (int i = 0; i < M; i++) {
            for (int j = i; j < M; j++) {
                double total = right[i][j];
                for (int k = 0; k < i; k++)
                    total += power[i - k] * right[k][j];
                information[i][j] = information[j][i] = total;
            }
        }
    }
};

// The gain K of a measurement of one state, and the variance S of its innovation.
template <int M> struct Gain {
    double k[M];
    double s;

    // Of a measurement of state `row` with a noise variance, P being the covariance before it.
    void of(const Square<M>& p, int row, double noise)
    {
        s = p[row][row] + noise;
        for (int i = 0; i < M; i++)
            k[i] = p[i][row] / s;
    }

    // P <- P - K S K', whose measured row and column are R K': as differences they would lose the digits of R under a
    // wide P.
    void correct(Square<M>& p, int row, double noise) const
    {
        for (int i = 0; i < M; i++)
            for (int j = 0; j <= i; j++)
                p[j][i] = p[i][j] -= k[i] * s * k[j];
        for (int i = 0; i < M; i++)
            p[row][i] = p[i][row] = noise * k[i];
    }

    // lambda <- (I - K e')' lambda - e innovation / S, e the unit vector of the measured state; returns what e was
    // given.
    double pull_back(double* lambda, int row, double innovation) const
    {
        double inner = innovation / s;
        for (int i = 0; i < M; i++)
            inner += k[i] * lambda[i];
        lambda[row] -= inner;
        return inner;
    }

    // Lambda <- (I - K e')' Lambda (I - K e') + e e' / S; returns 1 / S + K' Lambda K.
    double pull_back(Square<M>& information, int row) const
    {
        double turned[M], inner = 0.0;
        for (int j = 0; j < M; j++) {
            turned[j] = 0.0;
            for (int i = 0; i < M; i++)
                turned[j] += k[i] * information[i][j];
            inner += turned[j] * k[j];
        }
        for (int j = 0; j < M; j++) {
            information[row][j] -= turned[j];
            information[j][row] -= turned[j];
        }
        inner += 1.0 / s;
        information[row][row] += inner;
        return inner;
    }
};

// Whether no entry changed by more than `tolerance` of the standard deviations it belongs to.
template <int M> bool is_settled(const Square<M>& a, const Square<M>& b, double tolerance)
{
    for (int i = 0; i < M; i++) {
        for (int j = 0; j <= i; j++) {
            const double change = a[i][j] - b[i][j];
            if (change * change >= tolerance * tolerance * (__builtin_fabs(a[i][i] * a[j][j]) + 1e-300))
                return false;
        }
    }
    return true;
}

template <int M> struct Order {
    static constexpr int value = M;
};

// Call `work` for a chain of 3 to 8 integrators; others there are none.
template <class Function> void for_order(long long order, Function work)
{
    switch (order) {
    case 3:
        return work(Order<3>());
    case 4:
        return work(Order<4>());
    case 5:
        return work(Order<5>());
    case 6:
        return work(Order<6>());
    case 7:
        return work(Order<7>());
    case 8:
        return work(Order<8>());
    default: // refused before
        return;
    }
}

} // namespace IPARAM_PATH
