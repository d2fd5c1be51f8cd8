// Steps through time: a product of the states for all samples, then the cells. Weights stay in
// ONNX's layout. The weights' gradient is one product over all steps, so that it is written once.
#include "runtime/cpu/Recurrence.h"
#include "runtime/cpu/RecurrentCells.h"

#include <algorithm>
#include <dnnl.h>
#include <limits>

namespace syncline::cpu {

namespace {

/// A matrix whose rows lie `stride` elements apart.
struct Matrix {
  const float *data;
  std::int64_t stride;
};

/// One direction of a layer: where its parts of the tensors lie.
class Direction {
public:
  Direction(const RecurrentLayer &layer, std::int64_t direction, const float *initial,
            const std::int64_t *lengths)
      : layer(layer), direction(direction), initial(initial), lengths(lengths) {}

  std::int64_t time(std::int64_t k) const { return layer.time(direction, k); }
  bool isPast(std::int64_t t, std::int64_t b) const { return lengths && t >= lengths[b]; }
  bool hasNoLength(std::int64_t b) const {
    return lengths && (lengths[b] < 0 || lengths[b] > layer.steps);
  }

  /// A row of x or dx.
  std::int64_t input(std::int64_t t, std::int64_t b) const {
    return ((t * layer.batch + b) * layer.directions + direction) * layer.gates();
  }
  std::int64_t inputStride() const { return layer.directions * layer.gates(); }
  std::int64_t output(std::int64_t t, std::int64_t b) const {
    return ((t * layer.batch + b) * layer.directions + direction) * layer.size;
  }
  std::int64_t kept(std::int64_t t, std::int64_t b) const {
    return ((direction * layer.steps + t) * layer.batch + b) * layer.saved();
  }
  /// A state's place in a row of `saved`: 0 is the output, 1 the cell's.
  std::int64_t keptState(std::int64_t t, std::int64_t b, std::int64_t state) const {
    return kept(t, b) + layer.saved() - (state + 1) * layer.size;
  }
  std::int64_t stateOf(std::int64_t state) const {
    return (state * layer.directions + direction) * layer.state();
  }
  /// A state of all samples before step number k.
  Matrix before(const float *saved, std::int64_t k, std::int64_t state) const {
    if (k == 0)
      return {initial + stateOf(state), layer.size};
    return {saved + keptState(time(k - 1), 0, state), layer.saved()};
  }

  const RecurrentLayer &layer;
  const std::int64_t direction;

private:
  const float *initial;
  const std::int64_t *lengths;
};

/// c = a·b + beta·c, where a has m and b n columns and both are transposed as said.
void multiply(bool transposeA, bool transposeB, std::int64_t m, std::int64_t n, std::int64_t k,
              Matrix a, Matrix b, float beta, float *c, std::int64_t stride) {
  if (k > 0)
    dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, 1.0f, a.data, a.stride,
               b.data, b.stride, beta, c, stride);
}

bool isWorthThreads(const RecurrentLayer &layer) { return layer.batch * layer.gates() >= 1 << 15; }

/// A sample that is past its length keeps its states.
void stay(const Direction &d, const CellStep &step, float *y) {
  std::fill_n(step.gates, d.layer.saved() - statesOf(d.layer.cell) * step.n, 0.0f);
  std::copy_n(step.h, step.n, step.newH);
  if (step.c)
    std::copy_n(step.c, step.n, step.newC);
  std::fill_n(y, step.n, 0.0f);
}

class Forward {
public:
  Forward(const Direction &d, const RecurrentOperands &all, float *scratch)
      : d(d), layer(d.layer), all(all), products(scratch),
        scaled(products + layer.batch * layer.gates()),
        weights(all.r + d.direction * layer.gates() * layer.size),
        bias(all.bias + d.direction * 2 * layer.gates()) {}

  void run() {
    for (std::int64_t k = 0; k < layer.steps; ++k)
      step(k);
    for (std::int64_t state = 0; state < statesOf(layer.cell); ++state) {
      const Matrix from = d.before(all.saved, layer.steps, state);
      for (std::int64_t b = 0; b < layer.batch; ++b)
        std::copy_n(from.data + b * from.stride, layer.size,
                    all.last + d.stateOf(state) + b * layer.size);
    }
    for (std::int64_t b = 0; b < layer.batch; ++b)
      if (d.hasNoLength(b))
        spoil(b);
  }

private:
  /// NaN in all results of a sample whose length is none, which no loss hides.
  void spoil(std::int64_t b) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (std::int64_t t = 0; t < layer.steps; ++t)
      std::fill_n(all.y + d.output(t, b), layer.size, nan);
    for (std::int64_t state = 0; state < statesOf(layer.cell); ++state)
      std::fill_n(all.last + d.stateOf(state) + b * layer.size, layer.size, nan);
  }

  CellStep cellStep(std::int64_t k, std::int64_t b) const {
    const std::int64_t t = d.time(k);
    const Matrix h = d.before(all.saved, k, 0);
    const bool hasCell = statesOf(layer.cell) == 2;
    const Matrix c = hasCell ? d.before(all.saved, k, 1) : Matrix{};
    return {all.x + d.input(t, b),
            products + b * layer.gates(),
            bias,
            bias + layer.gates(),
            h.data + b * h.stride,
            hasCell ? c.data + b * c.stride : nullptr,
            all.saved + d.kept(t, b),
            hasCell ? all.saved + d.keptState(t, b, 1) : nullptr,
            all.saved + d.keptState(t, b, 0),
            layer.size};
  }

  void step(std::int64_t k) {
    const bool resetsBefore = layer.cell == RecurrentCell::gru;
    const std::int64_t n = layer.size, rows = layer.gates() - (resetsBefore ? n : 0);
    const std::int64_t t = d.time(k);
    multiply(false, true, layer.batch, rows, n, d.before(all.saved, k, 0), {weights, n}, 0,
             products, layer.gates());
    if (resetsBefore) {
#pragma omp parallel for if (isWorthThreads(layer))
      for (std::int64_t b = 0; b < layer.batch; ++b)
        gruGates(cellStep(k, b), scaled + b * n);
      multiply(false, true, layer.batch, n, n, {scaled, n}, {weights + rows * n, n}, 0,
               products + rows, layer.gates());
    }
#pragma omp parallel for if (isWorthThreads(layer))
    for (std::int64_t b = 0; b < layer.batch; ++b) {
      const CellStep one = cellStep(k, b);
      float *y = all.y + d.output(t, b);
      if (d.isPast(t, b)) {
        stay(d, one, y);
        continue;
      }
      cell(one);
      std::copy_n(one.newH, n, y);
    }
  }

  void cell(const CellStep &one) const {
    switch (layer.cell) {
    case RecurrentCell::lstm:
      return lstmCell(one);
    case RecurrentCell::gru:
      return gruCandidate(one, one.product + 2 * one.n);
    case RecurrentCell::gruResetAfter:
      return gruResetAfterCell(one);
    case RecurrentCell::rnnTanh:
      return rnnCell(one, false);
    case RecurrentCell::rnnRelu:
      return rnnCell(one, true);
    }
  }

  const Direction &d;
  const RecurrentLayer &layer;
  const RecurrentOperands &all;
  float *products, *scaled;
  const float *weights, *bias;
};

class Backward {
public:
  Backward(const Direction &d, const RecurrentGradients &all, float *scratch)
      : d(d), layer(d.layer), all(all), states(scratch),
        dscaled(states + statesOf(layer.cell) * layer.state()), kept(dscaled + layer.state()),
        weights(all.r + d.direction * layer.gates() * layer.size) {}

  void run() {
    for (std::int64_t state = 0; state < statesOf(layer.cell); ++state)
      std::copy_n(all.dlast + d.stateOf(state), layer.state(), states + state * layer.state());
    for (std::int64_t k = layer.steps; k-- > 0;)
      step(k);
    for (std::int64_t state = 0; all.dinitial && state < statesOf(layer.cell); ++state)
      std::copy_n(states + state * layer.state(), layer.state(), all.dinitial + d.stateOf(state));
    if (all.dr)
      weightGradient();
    if (all.dbias)
      biasGradient();
  }

private:
  /// What the gradients of the states' products differ by from dx: nothing, those of all gates, or
  /// in the cell that resets before the product the states that entered the candidate's product.
  std::int64_t keptWidth() const {
    return layer.cell == RecurrentCell::gruResetAfter ? layer.gates() : layer.size;
  }
  float *keptRow(std::int64_t t, std::int64_t b) const {
    return kept + (t * layer.batch + b) * keptWidth();
  }
  /// The gradient of the states' products at a time.
  Matrix productGradient(std::int64_t t) const {
    if (layer.cell == RecurrentCell::gruResetAfter)
      return {keptRow(t, 0), layer.gates()};
    return {all.dx + d.input(t, 0), d.inputStride()};
  }

  void step(std::int64_t k) {
    const bool resetsBefore = layer.cell == RecurrentCell::gru;
    const std::int64_t n = layer.size, t = d.time(k), rows = layer.gates() - (resetsBefore ? n : 0);
#pragma omp parallel for if (isWorthThreads(layer))
    for (std::int64_t b = 0; b < layer.batch; ++b)
      cell(k, t, b);
    if (resetsBefore) {
      multiply(false, false, layer.batch, n, n, {all.dx + d.input(t, 0) + rows, d.inputStride()},
               {weights + rows * n, n}, 0, dscaled, n);
#pragma omp parallel for if (isWorthThreads(layer))
      for (std::int64_t b = 0; b < layer.batch; ++b)
        if (!d.isPast(t, b))
          gruGatesBackward(gradient(k, t, b), dscaled + b * n, keptRow(t, b));
    }
    multiply(false, false, layer.batch, n, rows, productGradient(t), {weights, n}, 1, states, n);
  }

  CellGradient gradient(std::int64_t k, std::int64_t t, std::int64_t b) const {
    const bool hasCell = statesOf(layer.cell) == 2;
    const Matrix h = d.before(all.saved, k, 0);
    const Matrix c = hasCell ? d.before(all.saved, k, 1) : Matrix{};
    return {all.saved + d.kept(t, b),
            hasCell ? all.saved + d.keptState(t, b, 1) : nullptr,
            all.saved + d.keptState(t, b, 0),
            hasCell ? c.data + b * c.stride : nullptr,
            h.data + b * h.stride,
            states + b * layer.size,
            hasCell ? states + layer.state() + b * layer.size : nullptr,
            all.dx + d.input(t, b),
            layer.size};
  }

  void cell(std::int64_t k, std::int64_t t, std::int64_t b) const {
    const CellGradient of = gradient(k, t, b);
    const bool keepsRows =
        layer.cell == RecurrentCell::gru || layer.cell == RecurrentCell::gruResetAfter;
    if (d.isPast(t, b)) {
      std::fill_n(of.dx, layer.gates(), 0.0f);
      if (keepsRows)
        std::fill_n(keptRow(t, b), keptWidth(), 0.0f);
      return;
    }
    const float *dy = all.dy + d.output(t, b);
    for (std::int64_t j = 0; j < of.n; ++j)
      of.dh[j] += dy[j];
    switch (layer.cell) {
    case RecurrentCell::lstm:
      return lstmCellBackward(of);
    case RecurrentCell::gru:
      return gruCandidateBackward(of);
    case RecurrentCell::gruResetAfter:
      return gruResetAfterCellBackward(of, keptRow(t, b));
    case RecurrentCell::rnnTanh:
      return rnnCellBackward(of, false);
    case RecurrentCell::rnnRelu:
      return rnnCellBackward(of, true);
    }
  }

  /// Σ over the steps of (gradients of the products)ᵀ·states. All steps but the first one in this
  /// direction read states that lie in `saved` a step before them.
  void weightGradient() const {
    const bool resetsBefore = layer.cell == RecurrentCell::gru;
    const std::int64_t n = layer.size, b = layer.batch;
    const std::int64_t rows = layer.gates() - (resetsBefore ? n : 0);
    float *dr = all.dr + d.direction * layer.gates() * n;
    multiply(true, false, rows, n, b, productGradient(d.time(0)), d.before(all.saved, 0, 0), 0, dr,
             n);
    if (layer.steps > 1) {
      const std::int64_t later = std::min(d.time(1), d.time(layer.steps - 1));
      const std::int64_t earlier = std::min(d.time(0), d.time(layer.steps - 2));
      multiply(true, false, rows, n, (layer.steps - 1) * b, productGradient(later),
               {all.saved + d.keptState(earlier, 0, 0), layer.saved()}, 1, dr, n);
    }
    if (resetsBefore)
      multiply(true, false, n, n, layer.steps * b, {all.dx + d.input(0, 0) + rows, d.inputStride()},
               {kept, n}, 0, dr + rows * n, n);
  }

  /// Sums over all steps and samples.
  void biasGradient() const {
    std::vector<double> sums(static_cast<std::size_t>(2 * layer.gates()));
    const Matrix inputs{all.dx + d.input(0, 0), d.inputStride()}, products = productGradient(0);
    for (std::int64_t row = 0; row < layer.steps * layer.batch; ++row)
      for (std::int64_t j = 0; j < layer.gates(); ++j) {
        sums[static_cast<std::size_t>(j)] += inputs.data[row * inputs.stride + j];
        sums[static_cast<std::size_t>(layer.gates() + j)] +=
            products.data[row * products.stride + j];
      }
    std::copy(sums.begin(), sums.end(), all.dbias + d.direction * 2 * layer.gates());
  }

  const Direction &d;
  const RecurrentLayer &layer;
  const RecurrentGradients &all;
  float *states, *dscaled, *kept;
  const float *weights;
};

} // namespace

std::int64_t recurrentScratch(const RecurrentLayer &layer) {
  return layer.batch * layer.gates() + layer.state();
}

std::int64_t recurrentBackwardScratch(const RecurrentLayer &layer) {
  const std::int64_t width = layer.cell == RecurrentCell::gruResetAfter ? layer.gates()
                             : layer.cell == RecurrentCell::gru         ? layer.size
                                                                        : 0;
  return (statesOf(layer.cell) + 1) * layer.state() + layer.steps * layer.batch * width;
}

void recurrentForward(const RecurrentLayer &layer, const RecurrentOperands &all, float *scratch) {
  for (std::int64_t i = 0; i < layer.directions; ++i)
    Forward(Direction(layer, i, all.initial, all.lengths), all, scratch).run();
}

void recurrentBackward(const RecurrentLayer &layer, const RecurrentGradients &all, float *scratch) {
  for (std::int64_t i = 0; i < layer.directions; ++i)
    Backward(Direction(layer, i, all.initial, all.lengths), all, scratch).run();
}

} // namespace syncline::cpu
