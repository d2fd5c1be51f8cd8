// Reference convolution and matrix product.
#include "tests/reference/Values.h"
#include "tests/reference/Window.h"

using namespace mlir;
using namespace syncline::nn;

namespace syncline::reference {

/// Calls `visit` with the places of x, w and y in every product x·w that is part of y.
template <typename Op>
static void
forEachProduct(Op op, const Tensor &x, const Tensor &w, const Tensor &y,
               const std::function<void(std::int64_t, std::int64_t, std::int64_t)> &visit) {
  std::int64_t groups = op.getGroups();
  std::int64_t outputsPerGroup = w.shape[0] / groups, inputsPerGroup = w.shape[1];
  WindowRef window{DimsRef(w.shape).drop_front(2), op.getStrides(), op.getDilations(),
                   op.getPadsBegin(), op.getPadsEnd()};
  forEachIndex(y.shape, [&](DimsRef out) {
    std::int64_t group = out[1] / outputsPerGroup;
    forEachTap(window, DimsRef(x.shape).drop_front(2), out.drop_front(2),
               [&](DimsRef tap, DimsRef position) {
                 for (std::int64_t c = 0; c < inputsPerGroup; ++c) {
                   Dims in{out[0], group * inputsPerGroup + c}, weight{out[1], c};
                   in.append(position.begin(), position.end());
                   weight.append(tap.begin(), tap.end());
                   visit(x.offset(in), w.offset(weight), y.offset(out));
                 }
               });
  });
}

static void conv(ConvOp op, Values &values) {
  const Tensor &x = values[op.getX()], &w = values[op.getW()];
  Tensor y = values.make(op.getY());
  forEachProduct(op, x, w, y,
                 [&](auto xi, auto wi, auto yi) { y.values[yi] += x.values[xi] * w.values[wi]; });
  forEachIndex(y.shape, [&](DimsRef i) {
    if (op.getBias())
      y.at(i) += values[op.getBias()].values[i[1]];
    if (op.getActivation() == Activation::relu)
      y.at(i) = std::max(y.at(i), 0.0);
  });
  values.set(op.getY(), std::move(y));
}

static void convBackwardData(ConvBackwardDataOp op, Values &values) {
  const Tensor &dy = values[op.getDy()], &w = values[op.getW()];
  Tensor dx = values.make(op.getDx());
  forEachProduct(op, dx, w, dy,
                 [&](auto xi, auto wi, auto yi) { dx.values[xi] += dy.values[yi] * w.values[wi]; });
  values.set(op.getDx(), std::move(dx));
}

static void convBackwardWeights(ConvBackwardWeightsOp op, Values &values) {
  const Tensor &dy = values[op.getDy()], &x = values[op.getX()];
  Tensor dw = values.make(op.getDw());
  forEachProduct(op, x, dw, dy,
                 [&](auto xi, auto wi, auto yi) { dw.values[wi] += dy.values[yi] * x.values[xi]; });
  values.set(op.getDw(), std::move(dw));
  if (!op.getDbias())
    return;
  Tensor bias = values.make(op.getDbias());
  forEachIndex(dy.shape, [&](DimsRef i) { bias.values[i[1]] += dy.at(i); });
  values.set(op.getDbias(), std::move(bias));
}

static void matmul(MatmulOp op, Values &values) {
  const Tensor &a = values[op.getA()], &b = values[op.getB()];
  Tensor y = values.make(op.getY());
  std::size_t rank = a.shape.size();
  std::int64_t inner = op.getTransposeA() ? a.shape[rank - 2] : a.shape[rank - 1];
  auto place = [](DimsRef out, std::int64_t row, std::int64_t column, bool transposed) {
    Dims index(out.drop_back(2));
    index.push_back(transposed ? column : row);
    index.push_back(transposed ? row : column);
    return index;
  };
  forEachIndex(y.shape, [&](DimsRef out) {
    double sum = op.getBias() ? values[op.getBias()].broadcastAt(out) : 0;
    for (std::int64_t k = 0; k < inner; ++k)
      sum += a.broadcastAt(place(out, out[out.size() - 2], k, op.getTransposeA())) *
             b.broadcastAt(place(out, k, out.back(), op.getTransposeB()));
    y.at(out) = op.getActivation() == Activation::relu ? std::max(sum, 0.0) : sum;
  });
  values.set(op.getY(), std::move(y));
}

bool evaluateLinear(Operation *op, Values &values) {
  if (auto known = dyn_cast<ConvOp>(op))
    conv(known, values);
  else if (auto known = dyn_cast<ConvBackwardDataOp>(op))
    convBackwardData(known, values);
  else if (auto known = dyn_cast<ConvBackwardWeightsOp>(op))
    convBackwardWeights(known, values);
  else if (auto known = dyn_cast<MatmulOp>(op))
    matmul(known, values);
  else
    return false;
  return true;
}

} // namespace syncline::reference
