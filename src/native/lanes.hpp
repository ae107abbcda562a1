// Lanes: one number of each of WIDTH samples, in one vector register. A kernel does for a block of WIDTH samples what
// its formula does for one. A block at the end of a batch that is not full repeats its last sample, so that the digits
// of a sample do not depend on the number of samples.
#pragma once

#include <math.h>
#include <string.h>

#include "kernel.hpp"

namespace IPARAM_PATH {

#if defined(__AVX512F__)
constexpr int WIDTH = 8;
#elif defined(__AVX2__)
constexpr int WIDTH = 4;
#else
constexpr int WIDTH = 2;
#endif

typedef double Lanes __attribute__((vector_size(WIDTH * sizeof(double))));
typedef long long Bits __attribute__((vector_size(WIDTH * sizeof(double))));

[[gnu::always_inline]] inline Lanes all(double x) { return Lanes{} + x; }

struct LanePair {
    Lanes low, high;
};

// Each other run of STEP lanes of a for the run before it of b.
template <int STEP> [[gnu::always_inline]] inline LanePair exchange(const Lanes& a, const Lanes& b)
{
    Bits low, high;
    for (int lane = 0; lane < WIDTH; lane++) {
        low[lane] = lane & STEP ? WIDTH + lane - STEP : lane;
        high[lane] = lane & STEP ? WIDTH + lane : lane + STEP;
    }
#if defined(__clang__)
    LanePair pair;
    for (int lane = 0; lane < WIDTH; lane++) { // the compiler finds the shuffle
        pair.low[lane] = lane & STEP ? b[lane - STEP] : a[lane];
        pair.high[lane] = lane & STEP ? b[lane] : a[lane + STEP];
    }
    return pair;
#else
    return {__builtin_shuffle(a, b, low), __builtin_shuffle(a, b, high)};
#endif
}

template <int STEP = WIDTH / 2> [[gnu::always_inline]] inline void transpose(Lanes (&square)[WIDTH])
{
    for (int i = 0; i < WIDTH; i++) {
        if (!(i & STEP)) {
            const LanePair pair = exchange<STEP>(square[i], square[i + STEP]);
            square[i] = pair.low;
            square[i + STEP] = pair.high;
        }
    }
    if constexpr (STEP > 1)
        transpose<STEP / 2>(square);
}

// Of a block that is not full; apart, because it is rare and would be a copy of everything.
[[gnu::noinline]] inline void load_some(const double* at, long long stride, int count, Lanes& x)
{
    for (int lane = 0; lane < WIDTH; lane++)
        x[lane] = at[(lane < count ? lane : count - 1) * stride];
}

[[gnu::noinline]] inline void store_some(double* at, long long stride, int count, const Lanes& x)
{
    for (int lane = 0; lane < count; lane++)
        at[lane * stride] = x[lane];
}

// Samples first .. first + count - 1 of a batch, count <= WIDTH.
struct Block {
    long long first;
    int count;

    // Column `column` of rows of `stride` numbers, a row a sample.
    [[gnu::always_inline]] Lanes load(const double* rows, long long stride, long long column) const
    {
        Lanes x;
        const double* at = rows + first * stride + column;
        if (count != WIDTH)
            load_some(at, stride, count, x);
        else
            for (int lane = 0; lane < WIDTH; lane++)
                x[lane] = at[lane * stride];
        return x;
    }

    [[gnu::always_inline]] void store(double* rows, long long stride, long long column, const Lanes& x) const
    {
        double* at = rows + first * stride + column;
        if (count != WIDTH)
            store_some(at, stride, count, x);
        else
            for (int lane = 0; lane < WIDTH; lane++)
                at[lane * stride] = x[lane];
    }

    // As many columns from `column` on as there are values.
    [[gnu::always_inline]] void store_columns(
        double* rows, long long stride, long long column, const Lanes* values, long long columns) const
    {
        long long i = 0;
        for (; i + WIDTH <= columns; i += WIDTH)
            store_row<WIDTH>(rows, stride, column + i, values + i);
        for (; i < columns; i++)
            store(rows, stride, column + i, values[i]);
    }

    // COUNT columns from `column` on.
    template <int COUNT>
    [[gnu::always_inline]] void store_row(double* rows, long long stride, long long column, const Lanes* values) const
    {
        constexpr int WHOLE = COUNT / WIDTH * WIDTH, PAIRS = COUNT / 2 * 2;
        double* at = rows + first * stride + column;
        if (count != WIDTH) {
            for (int i = 0; i < COUNT; i++)
                store_some(at + i, stride, count, values[i]);
            return;
        }
        for (int i = 0; i < WHOLE; i += WIDTH) {
            Lanes square[WIDTH];
            for (int j = 0; j < WIDTH; j++)
                square[j] = values[i + j];
            transpose(square);
            for (int lane = 0; lane < WIDTH; lane++)
                memcpy(at + lane * stride + i, &square[lane], sizeof(Lanes));
        }
        for (int i = WHOLE; i < PAIRS; i += 2) {
            const Lanes pairs[2] = {
                exchange<1>(values[i], values[i + 1]).low, exchange<1>(values[i], values[i + 1]).high};
            for (int lane = 0; lane < WIDTH; lane++)
                memcpy(at + lane * stride + i, (const double*)&pairs[lane % 2] + lane / 2 * 2, 2 * sizeof(double));
        }
        if (PAIRS < COUNT)
            store(rows, stride, column + PAIRS, values[PAIRS]);
    }
};

// Call `of_block` for the blocks of a batch, in order.
template <class Function> [[gnu::always_inline]] inline void for_blocks(long long samples, Function of_block)
{
    for (long long first = 0; first < samples; first += WIDTH)
        of_block(Block{first, samples - first < WIDTH ? int(samples - first) : WIDTH});
}

[[gnu::always_inline]] inline bool any(Bits mask)
{
    long long found = 0;
    for (int lane = 0; lane < WIDTH; lane++)
        found |= mask[lane];
    return found != 0;
}

struct SinCos {
    Lanes sin, cos;
};

// By the C library, where `far` is set.
[[gnu::noinline]] inline void sin_cos_of(const Lanes& x, const Bits& far, SinCos& found)
{
    for (int lane = 0; lane < WIDTH; lane++) {
        if (far[lane]) {
            found.sin[lane] = sin(x[lane]);
            found.cos[lane] = cos(x[lane]);
        }
    }
}

// sin(x) and cos(x) to two units in the last place. Cody-Waite reduction to |r| <= pi/4 in three exact parts of pi/2,
// then the classical minimax polynomials. Beyond 1e5 rad, where the reduction would lose digits, and for what is not
// finite, the C library takes over.
[[gnu::always_inline]] inline SinCos sin_cos(Lanes x)
{
    const double shift = 6755399441055744.0; // 1.5 * 2^52: a sum with it rounds to a whole number, in its last bits
    const Lanes shifted = x * 0.63661977236758134308 + shift;
    const Bits quadrant = (Bits)shifted;
    const Lanes n = shifted - shift;
    const Lanes r =
        ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
    const Lanes z = r * r;
    Lanes s = 2.75573136213857245e-6 + z * (-2.50507477628578073e-8 + z * 1.58962301576546568e-10);
    s = -1.66666666666666307e-1 + z * (8.33333333332211859e-3 + z * (-1.98412698295895386e-4 + z * s));
    s = r + r * z * s;
    Lanes c = -2.75573141792967388e-7 + z * (2.08757008419747317e-9 - z * 1.13585365213876817e-11);
    c = 4.16666666666665929e-2 + z * (-1.38888888888730564e-3 + z * (2.48015872888517045e-5 + z * c));
    c = 1.0 - 0.5 * z + z * z * c;
    const Bits odd = (quadrant & 1) != 0;
    const Bits sign_of_sin = (quadrant & 2) << 62, sign_of_cos = ((quadrant + 1) & 2) << 62;
    SinCos found = {(Lanes)((Bits)(odd ? c : s) ^ sign_of_sin), (Lanes)((Bits)(odd ? s : c) ^ sign_of_cos)};
    const Bits far = ~((Lanes)((Bits)x & 0x7fffffffffffffffll) <= 1e5);
    if (any(far))
        sin_cos_of(x, far, found);
    return found;
}

} // namespace IPARAM_PATH
