// Vectors of three and matrices of nine numbers; a number is a double or Lanes.
#pragma once

#include "lanes.hpp"

namespace IPARAM_PATH {

template <class T> struct Vector {
    T x, y, z;
};

template <class A, class B> using Product = decltype(A() * B());

template <class A, class B>
[[gnu::always_inline]] inline Vector<Product<A, B>> operator+(const Vector<A>& a, const Vector<B>& b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}

template <class A, class B>
[[gnu::always_inline]] inline Vector<Product<A, B>> operator-(const Vector<A>& a, const Vector<B>& b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}

template <class A, class B>
[[gnu::always_inline]] inline Vector<Product<A, B>> operator*(const A& a, const Vector<B>& b)
{
    return {a * b.x, a * b.y, a * b.z};
}

template <class A> [[gnu::always_inline]] inline Vector<A>& operator+=(Vector<A>& a, const Vector<A>& b)
{
    return a = a + b;
}

template <class A, class B>
[[gnu::always_inline]] inline Vector<Product<A, B>> cross(const Vector<A>& a, const Vector<B>& b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class A, class B> [[gnu::always_inline]] inline Product<A, B> dot(const Vector<A>& a, const Vector<B>& b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Rows of a matrix; of a rotation, its columns are the axes of a frame.
template <class T> struct Matrix {
    Vector<T> x, y, z;
};

template <class A, class B>
[[gnu::always_inline]] inline Vector<Product<A, B>> operator*(const Matrix<A>& m, const Vector<B>& v)
{
    return {dot(m.x, v), dot(m.y, v), dot(m.z, v)};
}

// M^T v
template <class A, class B>
[[gnu::always_inline]] inline Vector<Product<A, B>> turn_back(const Matrix<A>& m, const Vector<B>& v)
{
    return {m.x.x * v.x + m.y.x * v.y + m.z.x * v.z, m.x.y * v.x + m.y.y * v.y + m.z.y * v.z,
        m.x.z * v.x + m.y.z * v.y + m.z.z * v.z};
}

template <class A, class B>
[[gnu::always_inline]] inline Matrix<Product<A, B>> operator*(const Matrix<A>& m, const Matrix<B>& n)
{
    return {turn_back(n, m.x), turn_back(n, m.y), turn_back(n, m.z)};
}

template <class T> [[gnu::always_inline]] inline Vector<T> column_z(const Matrix<T>& m)
{
    return {m.x.z, m.y.z, m.z.z};
}

// A symmetric matrix, in the order of phi.
template <class T> struct Symmetric {
    T xx, xy, xz, yy, yz, zz;
};

template <class A, class B>
[[gnu::always_inline]] inline Vector<Product<A, B>> operator*(const Symmetric<A>& m, const Vector<B>& v)
{
    return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
        m.xz * v.x + m.yz * v.y + m.zz * v.z};
}

} // namespace IPARAM_PATH
