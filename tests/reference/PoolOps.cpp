// Reference pooling. A maximum's workspace holds the number of its tap in the kernel.
#include "tests/reference/Values.h"
#include "tests/reference/Window.h"

#include <limits>

using namespace mlir;
using namespace syncline::nn;

namespace syncline::reference {

/// Calls `visit` with the places of y and x and the tap's number, for every tap of every window.
template <typename Op>
static void
forEachWindowTap(Op op, const Tensor &x, const Tensor &y,
                 const std::function<void(std::int64_t, std::int64_t, std::int64_t)> &visit) {
  WindowRef window{op.getKernel(), op.getStrides(), op.getDilations(), op.getPadsBegin(),
                   op.getPadsEnd()};
  Tensor kernel(op.getKernel());
  forEachIndex(y.shape, [&](DimsRef out) {
    forEachTap(window, DimsRef(x.shape).drop_front(2), out.drop_front(2),
               [&](DimsRef tap, DimsRef position) {
                 Dims in{out[0], out[1]};
                 in.append(position.begin(), position.end());
                 visit(y.offset(out), x.offset(in), kernel.offset(tap));
               });
  });
}

static void maxPool(MaxPoolOp op, Values &values) {
  const Tensor &x = values[op.getX()];
  Tensor y = values.make(op.getY()), workspace = values.make(op.getWorkspace());
  y.values.assign(y.values.size(), -std::numeric_limits<double>::infinity());
  forEachWindowTap(op, x, y, [&](auto yi, auto xi, auto tap) {
    if (x.values[xi] <= y.values[yi])
      return;
    y.values[yi] = x.values[xi];
    workspace.values[yi] = static_cast<double>(tap);
  });
  values.set(op.getY(), std::move(y));
  values.set(op.getWorkspace(), std::move(workspace));
}

static void maxPoolBackward(MaxPoolBackwardOp op, Values &values) {
  const Tensor &dy = values[op.getDy()], &workspace = values[op.getWorkspace()];
  Tensor dx = values.make(op.getDx());
  forEachWindowTap(op, dx, dy, [&](auto yi, auto xi, auto tap) {
    if (workspace.values[yi] == static_cast<double>(tap))
      dx.values[xi] += dy.values[yi];
  });
  values.set(op.getDx(), std::move(dx));
}

/// How many elements each window's mean counts.
template <typename Op> static Tensor counts(Op op, const Tensor &x, const Tensor &y) {
  Tensor count(y.shape);
  if (op.getCountIncludePad())
    count.values.assign(count.values.size(), double(elementCount(op.getKernel())));
  else
    forEachWindowTap(op, x, y, [&](auto yi, auto, auto) { count.values[yi] += 1; });
  return count;
}

static void averagePool(AveragePoolOp op, Values &values) {
  const Tensor &x = values[op.getX()];
  Tensor y = values.make(op.getY()), count = counts(op, x, y);
  forEachWindowTap(
      op, x, y, [&](auto yi, auto xi, auto) { y.values[yi] += x.values[xi] / count.values[yi]; });
  values.set(op.getY(), std::move(y));
}

static void averagePoolBackward(AveragePoolBackwardOp op, Values &values) {
  const Tensor &dy = values[op.getDy()];
  Tensor dx = values.make(op.getDx()), count = counts(op, dx, dy);
  forEachWindowTap(op, dx, dy, [&](auto yi, auto xi, auto) {
    dx.values[xi] += dy.values[yi] / count.values[yi];
  });
  values.set(op.getDx(), std::move(dx));
}

bool evaluatePool(Operation *op, Values &values) {
  if (auto known = dyn_cast<MaxPoolOp>(op))
    maxPool(known, values);
  else if (auto known = dyn_cast<MaxPoolBackwardOp>(op))
    maxPoolBackward(known, values);
  else if (auto known = dyn_cast<AveragePoolOp>(op))
    averagePool(known, values);
  else if (auto known = dyn_cast<AveragePoolBackwardOp>(op))
    averagePoolBackward(known, values);
  else
    return false;
  return true;
}

} // namespace syncline::reference
