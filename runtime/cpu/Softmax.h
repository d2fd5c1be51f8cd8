// Rows of exponentials, by the widest vectors that a run may use. Elements of a row lie side by
// side. Sums are in double, in an order that does not depend on the width.
#pragma once

#include <cstdint>

namespace syncline::cpu {

/// log Σ exp(x[k]) over n > 0 values, without overflow.
double logSumExp(const float *x, std::int64_t n);

/// y[k] = factor · exp(x[k] - total).
void exponentials(const float *x, double total, double factor, float *y, std::int64_t n);

/// The softmax of n > 0 values. y may be x.
void softmaxRow(const float *x, float *y, std::int64_t n);

/// Σ a[k]·b[k].
double dotProduct(const float *a, const float *b, std::int64_t n);

} // namespace syncline::cpu
