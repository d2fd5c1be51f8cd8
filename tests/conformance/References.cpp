// Definitions written out index by index.
#include "tests/conformance/References.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace syncline::conformance {

namespace {

/// The input position a window's tap falls on; false outside (padding).
bool tapPosition(const Shape &y, const Shape &tap, const Window &window, const Shape &xShape,
                 Shape &x) {
  for (std::size_t i = 0; i < tap.size(); ++i) {
    x[i + 2] = y[i + 2] * window.strides[i] + tap[i] * window.dilations[i] - window.padsBegin[i];
    if (x[i + 2] < 0 || x[i + 2] >= xShape[i + 2])
      return false;
  }
  return true;
}

} // namespace

namespace {

/// Calls body(y, x, w) with the indices of every product of a convolution.
template <typename Body>
void forEachProduct(const Shape &xShape, const Shape &wShape, const Shape &yShape,
                    const Window &window, const Body &body) {
  const std::int64_t perGroup = wShape[1], outPerGroup = wShape[0] / window.groups;
  const Shape kernel(wShape.begin() + 2, wShape.end());
  forEachIndex(yShape, [&](const Shape &y) {
    Shape x = y, w(wShape.size());
    w[0] = y[1];
    forEachIndex(kernel, [&](const Shape &tap) {
      if (!tapPosition(y, tap, window, xShape, x))
        return;
      std::copy(tap.begin(), tap.end(), w.begin() + 2);
      for (w[1] = 0; w[1] < perGroup; ++w[1]) {
        x[1] = y[1] / outPerGroup * perGroup + w[1];
        body(y, x, w);
      }
    });
  });
}

} // namespace

Array referenceConv(const Array &x, const Array &w, const Array &bias, const Window &window,
                    const Shape &yShape) {
  Array y(yShape);
  forEachProduct(x.shape, w.shape, yShape, window,
                 [&](const Shape &to, const Shape &from, const Shape &weight) {
                   y[to] += x[from] * w[weight];
                 });
  if (!bias.values.empty())
    forEachIndex(yShape, [&](const Shape &at) { y[at] += bias[{at[1]}]; });
  return y;
}

ConvGradients referenceConvBackward(const Array &x, const Array &w, const Array &dy,
                                    const Window &window) {
  ConvGradients result{Array(x.shape), Array(w.shape), Array({dy.shape[1]})};
  forEachProduct(x.shape, w.shape, dy.shape, window,
                 [&](const Shape &to, const Shape &from, const Shape &weight) {
                   result.dx[from] += dy[to] * w[weight];
                   result.dw[weight] += dy[to] * x[from];
                 });
  forEachIndex(dy.shape, [&](const Shape &at) { result.dbias[{at[1]}] += dy[at]; });
  return result;
}

Array referencePool(Pool kind, const Array &x, const Window &window, const Shape &yShape) {
  Array y(yShape);
  forEachIndex(yShape, [&](const Shape &at) {
    double sum = 0, largest = -INFINITY;
    std::int64_t inside = 0, all = 0;
    Shape from = at;
    forEachIndex(window.kernel, [&](const Shape &tap) {
      ++all;
      if (!tapPosition(at, tap, window, x.shape, from))
        return;
      ++inside;
      sum += x[from];
      largest = std::max(largest, x[from]);
    });
    const auto count = static_cast<double>(kind == Pool::averageAll ? all : inside);
    y[at] = kind == Pool::maximum ? largest : sum / count;
  });
  return y;
}

Array channelMean(const Array &x) {
  Array mean({x.shape[1]});
  const double count = static_cast<double>(x.size() / x.shape[1]);
  forEachIndex(x.shape, [&](const Shape &at) { mean[{at[1]}] += x[at] / count; });
  return mean;
}

Array channelVariance(const Array &x) {
  const Array mean = channelMean(x);
  Array variance({x.shape[1]});
  const double count = static_cast<double>(x.size() / x.shape[1]);
  forEachIndex(x.shape, [&](const Shape &at) {
    variance[{at[1]}] += std::pow(x[at] - mean[{at[1]}], 2) / count;
  });
  return variance;
}

Array referenceBatchNorm(const Array &x, const Array &scale, const Array &shift, double epsilon) {
  const Array mean = channelMean(x), variance = channelVariance(x);
  Array y(x.shape);
  forEachIndex(x.shape, [&](const Shape &at) {
    const Shape c{at[1]};
    y[at] = scale[c] * (x[at] - mean[c]) / std::sqrt(variance[c] + epsilon) + shift[c];
  });
  return y;
}

Array referenceRelu(const Array &x) {
  Array y = x;
  for (double &value : y.values)
    value = std::max(value, 0.0);
  return y;
}

Array referenceMatmul(const Array &a, bool transposeA, const Array &b, bool transposeB,
                      const Shape &yShape) {
  Array y(yShape);
  const std::size_t rank = yShape.size();
  const std::int64_t inner = a.shape[a.shape.size() - (transposeA ? 2 : 1)];
  auto element = [&](const Array &m, const Shape &at, bool transpose, std::int64_t row,
                     std::int64_t column) {
    const std::size_t own = m.shape.size();
    Shape index(at.end() - static_cast<std::ptrdiff_t>(own), at.end());
    for (std::size_t i = 0; i + 2 < own; ++i)
      index[i] = m.shape[i] == 1 ? 0 : index[i];
    index[own - 2] = transpose ? column : row;
    index[own - 1] = transpose ? row : column;
    return m[index];
  };
  forEachIndex(yShape, [&](const Shape &at) {
    for (std::int64_t k = 0; k < inner; ++k)
      y[at] +=
          element(a, at, transposeA, at[rank - 2], k) * element(b, at, transposeB, k, at[rank - 1]);
  });
  return y;
}

Array referenceLrn(const Array &x, std::int64_t size, double alpha, double beta, double bias) {
  Array y(x.shape);
  forEachIndex(x.shape, [&](const Shape &at) {
    double sum = 0;
    const std::int64_t first = at[1] - (size - 1) / 2, last = at[1] + size / 2;
    for (std::int64_t c = std::max<std::int64_t>(first, 0); c <= std::min(last, x.shape[1] - 1);
         ++c) {
      Shape neighbour = at;
      neighbour[1] = c;
      sum += x[neighbour] * x[neighbour];
    }
    y[at] = x[at] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
  });
  return y;
}

Array referenceLayerNorm(const Array &x, const Array &scale, const Array &shift, double epsilon) {
  Array y = x;
  const std::size_t n = scale.values.size();
  for (std::size_t begin = 0; begin < y.values.size(); begin += n) {
    double *const row = &y.values[begin], count = static_cast<double>(n);
    const double mean = std::accumulate(row, row + n, 0.0) / count;
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i)
      squares += std::pow(row[i] - mean, 2);
    for (std::size_t i = 0; i < n; ++i)
      row[i] = scale.values[i] * (row[i] - mean) / std::sqrt(squares / count + epsilon) +
               shift.values[i];
  }
  return y;
}

Array referenceSoftmax(const Array &x, std::int64_t axis, bool logarithm) {
  Array y(x.shape);
  forEachIndex(x.shape, [&](const Shape &at) {
    double sum = 0;
    Shape other = at;
    for (other[axis] = 0; other[axis] < x.shape[axis]; ++other[axis])
      sum += std::exp(x[other]);
    y[at] = logarithm ? x[at] - std::log(sum) : std::exp(x[at]) / sum;
  });
  return y;
}

Array referenceCrossEntropy(const Array &logits, const Array &target, double smoothing,
                            const Array &weights) {
  Shape second = logits.shape;
  second.erase(second.begin() + 1);
  const std::size_t axis = second == target.shape ? 1 : second.size();
  const Array logarithms = referenceSoftmax(logits, static_cast<std::int64_t>(axis), true);
  const auto weightOf = [&](auto k) {
    return weights.shape.empty() ? 1.0 : weights.values[static_cast<std::size_t>(k)];
  };
  double counted = 0;
  for (const double label : target.values)
    counted += label == -100 ? 0 : weightOf(label);
  Array loss{Shape{}};
  forEachIndex(target.shape, [&](const Shape &at) {
    if (target[at] == -100)
      return;
    Shape place = at;
    place.insert(place.begin() + static_cast<std::ptrdiff_t>(axis), 0);
    std::int64_t &k = place[axis];
    for (k = 0; k < logits.shape[axis]; ++k) {
      const double wanted = (static_cast<double>(k) == target[at] ? 1 - smoothing : 0) +
                            smoothing / static_cast<double>(logits.shape[axis]);
      if (wanted != 0)
        loss.values[0] -= weightOf(k) * wanted * logarithms[place] / counted;
    }
  });
  return loss;
}

} // namespace syncline::conformance
