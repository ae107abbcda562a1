"""Compiled recursions of the estimators: orthogonal updates, the smallest singular direction of what they keep; and
filters in time.
"""

from __future__ import annotations

import numpy as np

from iparam.robot.kernels.compilation import allocating, compiled, part
from iparam.robot.kernels.workspace import empty, zeros

SWEEPS = 30  # of Jacobi rotations; two or three are enough
ORTHOGONAL = 1e-15  # cosine of two columns that counts as 0
UNDERFLOW = 1e-280  # sum of squares whose inverse is no longer a number
NOTHING = 1e-32  # square of a column, relative to the largest, that counts as 0
DETERMINED = 1e-10  # part of a column, relative, that those before it must leave for it to count as determined


@part
def fold_rows(r, rows, forgetting):
    """Turn rows (b, p) into the triangular factor r (p, p) by Householder reflections. Both change.

    r' r becomes forgetting r' r + rows' rows.
    """
    p, b = r.shape[0], rows.shape[0]
    if forgetting != 1.0:
        shrink = np.sqrt(forgetting)
        for i in range(p):
            for j in range(i, p):
                r[i, j] *= shrink
    for i in range(p):
        below = 0.0
        for k in range(b):
            below += rows[k, i] * rows[k, i]
        if below < UNDERFLOW:
            continue
        head = r[i, i]
        norm = np.sqrt(head * head + below)
        if head > 0.0:
            norm = -norm
        pivot = head - norm
        scale = 1.0 / (norm * pivot)
        r[i, i] = norm
        for j in range(i + 1, p):
            inner = r[i, j] * pivot
            for k in range(b):
                inner += rows[k, i] * rows[k, j]
            inner *= scale
            r[i, j] += inner * pivot
            for k in range(b):
                rows[k, j] += inner * rows[k, i]


@allocating
def fold_samples(r, whiten, design, y, forgetting):
    """Fold samples design (N, 6, p) and y (N, 6), whitened by ``whiten`` (6, 6), into r (p + 1, p + 1), one by one."""
    count, channels, p = design.shape
    rows = np.empty((channels, p + 1))
    for k in range(count):
        for i in range(channels):
            for j in range(p + 1):
                rows[i, j] = 0.0
            for c in range(channels):
                w = whiten[i, c]
                if w != 0.0:
                    for j in range(p):
                        rows[i, j] += w * design[k, c, j]
                    rows[i, p] += w * y[k, c]
        fold_rows(r, rows, forgetting)


@part
def back_substitute(r, size, right, out):
    """Write out = inverse of the leading (size, size) triangle of r, times right. False if it is singular."""
    for i in range(size - 1, -1, -1):
        total = right[i]
        for j in range(i + 1, size):
            total -= r[i, j] * out[j]
        if r[i, i] == 0.0:
            return False
        out[i] = total / r[i, i]
    return True


@compiled
def least_squares_solution(r, out):
    """Solve the leading triangle of r (p + 1, p + 1) for its last column. False if it is singular."""
    p = out.shape[0]
    return back_substitute(r, p, r[:, p], out)


@part
def determines(r):
    """See `is_determined`."""
    for j in range(r.shape[0] - 1):
        square = 0.0
        for i in range(j + 1):
            square += r[i, j] * r[i, j]
        if not r[j, j] * r[j, j] > DETERMINED * DETERMINED * square:  # NaN fails too
            return False
    return True


@compiled
def is_determined(r):
    """Whether a triangular factor r (p + 1, p + 1), y last, determines its p unknowns."""
    return determines(r)


@compiled
def whitened_rows(whiten, A, y, exact, out):
    """Write out (6, exact + 11) = ``whiten`` (6, 6) times [bias, A, y] of a sample, the bias in ``exact`` columns."""
    known = A.shape[1]
    for i in range(6):
        for j in range(exact):
            out[i, j] = whiten[i, j]
        for j in range(known):
            total = 0.0
            for k in range(6):
                total += whiten[i, k] * A[k, j]
            out[i, exact + j] = total
        total = 0.0
        for k in range(6):
            total += whiten[i, k] * y[k]
        out[i, exact + known] = total


@allocating
def append_rows(values, vectors, rows, work):
    """Update singular values (p,) and right singular vectors (p, p), columns, for appended rows (b, p).

    Brand's update without the left vectors: in the coordinates of the right ones the matrix is [diag(values); rows V];
    reflections make it triangular again, and one-sided Jacobi rotations diagonalise it. Values descend afterwards.
    ``work`` is (p, p); rows change.
    """
    p, b = vectors.shape[0], rows.shape[0]
    turned = np.empty((b, p))
    for k in range(b):
        for j in range(p):
            total = 0.0
            for i in range(p):
                total += rows[k, i] * vectors[i, j]
            turned[k, j] = total
    for i in range(p):
        for j in range(p):
            work[i, j] = 0.0
        work[i, i] = values[i]
    fold_rows(work, turned, 1.0)
    # Rows of these hold what the formulas call columns, so that the rotations run along memory.
    w, v = np.empty((p, p)), np.empty((p, p))
    for i in range(p):
        for j in range(p):
            w[i, j] = work[j, i]
            v[i, j] = vectors[j, i]
    rotate_to_orthogonal(w, v)
    norms = np.empty(p)
    for i in range(p):
        total = 0.0
        for j in range(p):
            total += w[i, j] * w[i, j]
        norms[i] = np.sqrt(total)
    for i in range(p):  # p is small, and numba takes seconds to compile a call of argsort
        largest = 0
        for k in range(1, p):
            if norms[k] > norms[largest]:
                largest = k
        values[i] = norms[largest]
        norms[largest] = -1.0
        for j in range(p):
            vectors[j, i] = v[largest, j]


@part
def rotate_to_orthogonal(w, v):
    """Rotate pairs of rows of w (p, p) until all are orthogonal, and v (p, p) along with it."""
    p = w.shape[0]
    squares = empty(p)
    for _ in range(SWEEPS):
        greatest = 0.0
        for i in range(p):
            total = 0.0
            for k in range(p):
                total += w[i, k] * w[i, k]
            squares[i] = total
            greatest = max(greatest, total)
        least = NOTHING * greatest
        turned = False
        for i in range(p - 1):
            for j in range(i + 1, p):
                a, d, c = squares[i], squares[j], 0.0
                for k in range(p):
                    c += w[i, k] * w[j, k]
                if min(a, d) <= least or abs(c) <= ORTHOGONAL * np.sqrt(a * d):
                    continue
                turned = turned or abs(c) > 1e-8 * np.sqrt(a * d)
                zeta = (d - a) / (2.0 * c)
                t = 1.0 / (abs(zeta) + np.sqrt(1.0 + zeta * zeta))
                if zeta < 0.0:
                    t = -t
                cosine = 1.0 / np.sqrt(1.0 + t * t)
                sine = cosine * t
                squares[i], squares[j] = a - t * c, d + t * c
                for k in range(p):
                    x, z = w[i, k], w[j, k]
                    w[i, k], w[j, k] = cosine * x - sine * z, sine * x + cosine * z
                    x, z = v[i, k], v[j, k]
                    v[i, k], v[j, k] = cosine * x - sine * z, sine * x + cosine * z
        if not turned:  # convergence is quadratic: what is below 1e-8 is gone after this sweep
            break


@compiled
def orthonormalise(v):
    """Make the columns of v (p, p), nearly orthonormal, orthonormal to rounding (modified Gram-Schmidt)."""
    p = v.shape[0]
    for j in range(p):
        for i in range(j):
            inner = 0.0
            for k in range(p):
                inner += v[k, i] * v[k, j]
            for k in range(p):
                v[k, j] -= inner * v[k, i]
        total = 0.0
        for k in range(p):
            total += v[k, j] * v[k, j]
        total = 1.0 / np.sqrt(total)
        for k in range(p):
            v[k, j] *= total


@part
def write_triangle(values, vectors, rows, out):
    """Write out (p, p), the triangular factor of diag(values) vectors'. Rows (p, p) change."""
    p = values.shape[0]
    for i in range(p):
        for j in range(p):
            rows[i, j] = values[i] * vectors[j, i]
            out[i, j] = 0.0
    fold_rows(out, rows, 1.0)


@compiled
def triangle_of_svd(values, vectors, rows, out):
    """See `write_triangle`."""
    write_triangle(values, vectors, rows, out)


@part
def solve_triangle(r, exact, noise, out):
    """See `solve_total`, of whose problem r is the triangle."""
    size = r.shape[0]
    m = size - exact
    largest = 0.0
    for i in range(exact, size):
        largest = max(largest, abs(r[i, i]))
    if largest == 0.0:
        return -1.0
    t = empty((m, m))
    for i in range(m):
        for j in range(m):
            t[i, j] = r[exact + i, exact + j]
    for i in range(m):  # exact data leave the last pivot at 0: any tiny number in its place gives the same direction
        if abs(t[i, i]) < 1e-15 * largest:
            t[i, i] = 1e-15 * largest
    x, v, pulled = zeros(m), zeros(m), zeros(m)
    x[m - 1] = 1.0
    ratio = -1.0
    for step in range(500):
        back_substitute(t, m, x, v)
        for i in range(m):
            total = 0.0
            for j in range(m):
                total += noise[i, j] * v[j]
            pulled[i] = total
        along = 0.0
        for i in range(m):
            along += v[i] * pulled[i]
        if not along > 0.0:
            return -1.0
        for i in range(m):  # forward substitution with the transpose
            total = pulled[i]
            for j in range(i):
                total -= t[j, i] * pulled[j]
            pulled[i] = total / t[i, i]
        norm = 0.0
        for i in range(m):
            norm += pulled[i] * pulled[i]
        norm = np.sqrt(norm)
        change = 0.0
        sign = 1.0 if pulled[m - 1] * x[m - 1] >= 0.0 else -1.0
        for i in range(m):
            following = sign * pulled[i] / norm
            change = max(change, abs(following - x[i]))
            x[i] = following
        ratio = 1.0 / along
        if change < 1e-15 and step > 0:
            break
    back_substitute(t, m, x, v)
    if v[m - 1] == 0.0:
        return -1.0
    p = size - 1
    for i in range(m - 1):
        out[exact + i] = -v[i] / v[m - 1]
    for i in range(exact - 1, -1, -1):
        total = r[i, p]
        for j in range(i + 1, p):
            total -= r[i, j] * out[j]
        if r[i, i] == 0.0:
            return -1.0
        out[i] = total / r[i, i]
    return ratio


@compiled
def solve_total(values, vectors, rows, exact, noise, r, out):
    """Solve the total least-squares problem of the triangle r (p + 1, p + 1), whose last column is y.

    One kernel for both that need it, batch and recursive: a second one would be compiled for some half a second.

    Args:
        values: (p + 1,) singular values and
        vectors: (p + 1, p + 1) right singular vectors from which r is written before; or (0,): r is given.
        rows: (p + 1, p + 1) that change, if it is written.
        exact: how many of the first columns have no errors.
        noise: (m, m) with m = p + 1 - exact, the Gram matrix of the errors of the others, y's included.
        r: the triangle.
        out: (p,) output, the solution.

    Of the trailing block T the direction v with the least v'T'T v / v'noise v is sought: x = T v is the dominant
    eigenvector of T^-T noise T^-1, found by power iteration, whose eigenvalues lie far apart wherever the data
    determine anything.

    Returns:
        The least ratio, v'T'T v / v'noise v; negative if there is no solution, or if r was written and the samples do
        not determine one.
    """
    if values.shape[0] > 0:
        write_triangle(values, vectors, rows, r)
        if not determines(r):
            return -1.0
    ratio = solve_triangle(r, exact, noise, out)
    for i in range(out.shape[0]):
        if not np.isfinite(out[i]):
            return -1.0
    return ratio


@allocating
def weigh_innovation(whiten, A, y, parameters, covariance, rows, weighted):
    """Mean square of the innovation of one sample, each of its six parts weighing as the others know it.

    Args:
        whiten: (6, 6) lower triangular root of the inverse covariance of a sample.
        A: (6, 10) its regressor.
        y: (6,) its wrench.
        parameters: (p,) the estimate before it; with p = 16 the bias is in it.
        covariance: (p, p) of that estimate.
        rows: (6, p) output, the whitened design.
        weighted: (6, p + 1) output, S^-1 [innovation, rows] with S = 1 + rows covariance rows'.
    """
    p, known = parameters.shape[0], A.shape[1]
    innovation_root, part = np.zeros((6, 6)), np.zeros(p)
    for i in range(6):
        innovation = 0.0
        for j in range(p):
            total = 0.0
            if j < known:
                for k in range(i + 1):
                    total += whiten[i, k] * A[k, j]
            else:
                total = whiten[i, j - known]
            rows[i, j] = total
            weighted[i, j + 1] = total
            innovation -= total * parameters[j]
        for k in range(i + 1):
            innovation += whiten[i, k] * y[k]
        weighted[i, 0] = innovation
    for i in range(6):
        for j in range(p):
            total = 0.0
            for k in range(p):
                total += rows[i, k] * covariance[k, j]
            part[j] = total
        for k in range(6):
            total = 1.0 if i == k else 0.0
            for j in range(p):
                total += part[j] * rows[k, j]
            innovation_root[i, k] = total
    square = 0.0
    for i in range(6):  # Cholesky's factor in place, and the forward substitution beside it
        for j in range(i):
            total = innovation_root[i, j]
            for k in range(j):
                total -= innovation_root[i, k] * innovation_root[j, k]
            innovation_root[i, j] = total / innovation_root[j, j]
        total = innovation_root[i, i]
        for k in range(i):
            total -= innovation_root[i, k] * innovation_root[i, k]
        innovation_root[i, i] = np.sqrt(total)
        for column in range(p + 1):
            total = weighted[i, column]
            for k in range(i):
                total -= innovation_root[i, k] * weighted[k, column]
            weighted[i, column] = total / innovation_root[i, i]
        square += weighted[i, 0] * weighted[i, 0]
    for i in range(5, -1, -1):
        for column in range(p + 1):
            total = weighted[i, column]
            for k in range(i + 1, 6):
                total -= innovation_root[k, i] * weighted[k, column]
            weighted[i, column] = total / innovation_root[i, i]
    return square / 6.0


@allocating
def change_information(products, errors, weights, parameters, root, shape, information, score):
    """What samples tell of a change of the first k of p unknowns, by ``shape`` times u, of a state that is known.

    Args:
        products: (6, p + 1, p + 1) sums of products of [design, y] for each of their six parts.
        errors: (k, k) what errors in the design are expected to add to the weighted products of its first columns.
        weights: (6,) inverse variances of these.
        parameters: (p,) the state as it was known.
        root: (p, p) a lower triangular root of its covariance.
        shape: (k,).
        information: (k, k) output, on u.
        score: (k,) output.
    """
    p, k = parameters.shape[0], shape.shape[0]
    gram, seen = np.empty((p, p + 1)), np.empty((p, p))
    for i in range(p):
        for j in range(p + 1):
            total = 0.0
            for c in range(6):
                total += weights[c] * products[c, i, j]
            gram[i, j] = total
        for j in range(p):
            gram[i, p] -= gram[i, j] * parameters[j]
            if i < k and j < k:  # an error in the design is in the residual and in what it is multiplied with
                gram[i, p] += errors[i, j] * parameters[j]
    for i in range(p):
        for j in range(p):
            total = 0.0
            for m in range(j, p):
                total += gram[i, m] * root[m, j]
            seen[i, j] = total
    known, taken = np.zeros((p, p)), np.empty((p, k + 1))
    for i in range(p):  # Cholesky's factor of 1 + root' gram root, and the forward substitution beside it
        for j in range(i + 1):
            total = 1.0 if i == j else 0.0
            for m in range(i, p):
                total += root[m, i] * seen[m, j]
            for m in range(j):
                total -= known[i, m] * known[j, m]
            known[i, j] = np.sqrt(total) if i == j else total / known[j, j]
        for column in range(k + 1):
            total = 0.0
            if column < k:
                total = seen[column, i]
            else:
                for m in range(i, p):
                    total += root[m, i] * gram[m, p]
            for m in range(i):
                total -= known[i, m] * taken[m, column]
            taken[i, column] = total / known[i, i]
    for i in range(k):
        for j in range(k):
            total = gram[i, j]
            for m in range(p):
                total -= taken[m, i] * taken[m, j]
            information[i, j] = shape[i] * total * shape[j]
        total = gram[i, p]
        for m in range(p):
            total -= taken[m, i] * taken[m, k]
        score[i] = shape[i] * total


@compiled
def add_scores(rows, weighted, score, gram):
    """Add rows' (6, p) times weighted (6, p + 1) to the score (p,), the first column, and to the gram (p, p)."""
    for c in range(6):
        for i in range(score.shape[0]):
            entry = rows[c, i]
            score[i] += entry * weighted[c, 0]
            for j in range(score.shape[0]):
                gram[i, j] += entry * weighted[c, j + 1]


@compiled
def filter_columns(factors, values, found):
    """Filter values (N, C) into found (N, C); of both, all before the first are 0.

    Factors (2, 3) are those of values and of found, of which the first is 1.
    """
    a0, a1, a2 = factors[0, 0], factors[0, 1], factors[0, 2]
    b1, b2 = factors[1, 1], factors[1, 2]
    for n in range(values.shape[0]):
        for c in range(values.shape[1]):
            total = a0 * values[n, c]
            if n > 0:
                total += a1 * values[n - 1, c] - b1 * found[n - 1, c]
            if n > 1:
                total += a2 * values[n - 2, c] - b2 * found[n - 2, c]
            found[n, c] = total
