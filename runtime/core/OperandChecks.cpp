// The checks of each operation's shapes; IndexChecks has those that take rows or go through time.
#include "runtime/core/OperandChecks.h"
#include "runtime/core/Labels.h"
#include "runtime/core/Strides.h"

#include <algorithm>
#include <limits>

namespace syncline::core {

namespace {

constexpr std::int64_t maxPositions = std::numeric_limits<std::int32_t>::max();

/// Checks that the window has one valid entry for each spatial dimension.
void checkWindow(const Operands &o, const Window &window, std::size_t spatial) {
  for (const Shape *entries :
       {&window.strides, &window.dilations, &window.padsBegin, &window.padsEnd})
    if (entries->size() != spatial)
      o.fail("expected a window of " + std::to_string(spatial) + " dimensions");
  auto below = [](const Shape &entries, std::int64_t least) {
    return std::any_of(entries.begin(), entries.end(), [=](auto entry) { return entry < least; });
  };
  if (below(window.strides, 1) || below(window.dilations, 1) || below(window.padsBegin, 0) ||
      below(window.padsEnd, 0) || below(window.kernel, 1) || window.groups < 1)
    o.fail("expected strides, dilations and groups of at least 1 and padding of at least 0");
  for (const Shape *entries :
       {&window.strides, &window.dilations, &window.padsBegin, &window.padsEnd, &window.kernel})
    for (std::int64_t entry : *entries)
      if (entry > maxPositions)
        o.fail("expected strides, dilations, paddings and kernels of at most " +
               std::to_string(maxPositions) + ", got " + std::to_string(entry));
}

/// Checks that the window's positions can be counted in 32 bits, as libraries and kernels do.
/// `kernel` holds the kernel's spatial extents.
void checkSpan(const Operands &o, Tensor x, const Shape &kernel, Tensor y, const Window &window) {
  for (std::size_t i = 0; i < window.strides.size(); ++i) {
    const std::int64_t reach =
        (o.shape(y)[i + 2] - 1) * window.strides[i] + (kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t padded = o.shape(x)[i + 2] + window.padsBegin[i] + window.padsEnd[i];
    if (std::max(reach, padded) > maxPositions)
      o.fail("expected windows over at most " + std::to_string(maxPositions) + " positions of '" +
             o.info(x).name + "', got " + std::to_string(std::max(reach, padded)));
  }
}

void expectDimensions(const Operands &o, std::initializer_list<Tensor> tensors,
                      std::size_t spatial) {
  for (Tensor tensor : tensors)
    if (o.shape(tensor).size() != spatial + 2)
      o.fail("expected operands of " + std::to_string(spatial + 2) + " dimensions");
}

} // namespace

void checkConv(const Operands &o, Tensor x, Tensor w, Tensor bias, Tensor y, const Window &window) {
  const std::size_t spatial = window.strides.size();
  expectDimensions(o, {x, w, y}, spatial);
  checkWindow(o, window, spatial);
  const std::int64_t channels = o.shape(x)[1], results = o.shape(w)[0];
  if (channels % window.groups != 0 || results % window.groups != 0)
    o.fail("expected channels that are a multiple of " + std::to_string(window.groups) + " groups");
  Shape weights = o.shape(w), result = o.shape(y);
  weights[1] = channels / window.groups;
  o.expectShape(w, weights);
  result[0] = o.shape(x)[0];
  result[1] = results;
  o.expectShape(y, result);
  checkSpan(o, x, Shape(weights.begin() + 2, weights.end()), y, window);
  o.expectType(w, {o.info(x).type});
  o.expectType(y, {o.info(x).type});
  if (bias.isValid())
    o.expectCount(bias, results), o.expectType(bias, {o.info(x).type});
}

void checkPool(const Operands &o, Tensor x, Tensor y, const Window &window) {
  const std::size_t spatial = window.kernel.size();
  expectDimensions(o, {x, y}, spatial);
  checkWindow(o, window, spatial);
  Shape result = o.shape(y);
  result[0] = o.shape(x)[0];
  result[1] = o.shape(x)[1];
  o.expectShape(y, result);
  o.expectType(y, {o.info(x).type});
  checkSpan(o, x, window.kernel, y, window);
  for (std::size_t i = 0; i < spatial; ++i) // each window covers at least one element
    if ((o.shape(y)[i + 2] - 1) * window.strides[i] - window.padsBegin[i] >= o.shape(x)[i + 2] ||
        (window.kernel[i] - 1) * window.dilations[i] < window.padsBegin[i])
      o.fail("expected every window to hold an element of '" + o.info(x).name + "'");
}

void checkPoolWorkspace(const Operands &o, Tensor y, Tensor workspace, const Window &window) {
  o.expectType(workspace, {ElementType::u8, ElementType::i32});
  o.expectShape(workspace, o.shape(y));
  if (o.info(workspace).type == ElementType::u8 && elementCount(window.kernel) > 255)
    o.fail("'" + o.info(workspace).name + "': expected element type i32 for a window of " +
           std::to_string(elementCount(window.kernel)) + " positions, got u8");
}

void checkMatmul(const Operands &o, Tensor a, bool transposeA, Tensor b, bool transposeB,
                 Tensor bias, Tensor y) {
  const Shape &left = o.shape(a), &right = o.shape(b), &result = o.shape(y);
  const std::size_t rank = result.size();
  if (rank < 2 || left.size() < 2 || right.size() < 2 || left.size() > rank || right.size() > rank)
    o.fail("expected matrices, or stacks of matrices of at most the result's dimensions");
  /// Whether the last dimensions of `own` equal the result's or, where broadcasting is allowed,
  /// are 1.
  auto broadcasts = [&](const Shape &own, std::size_t last) {
    for (std::size_t i = 0; i + last < own.size(); ++i)
      if (own[i] != 1 && own[i] != result[rank - own.size() + i])
        return false;
    return true;
  };
  auto rows = [](const Shape &s, bool transpose) { return s[s.size() - (transpose ? 1 : 2)]; };
  if (rows(left, transposeA) != result[rank - 2] || rows(right, !transposeB) != result[rank - 1] ||
      rows(left, !transposeA) != rows(right, transposeB) || !broadcasts(left, 2) ||
      !broadcasts(right, 2))
    o.fail("cannot multiply " + shapeText(left) + (transposeA ? " transposed" : "") + " by " +
           shapeText(right) + (transposeB ? " transposed" : "") + " into " + shapeText(result));
  o.expectType(b, {o.info(a).type});
  o.expectType(y, {o.info(a).type});
  if (!bias.isValid())
    return;
  o.expectType(bias, {o.info(a).type});
  if (o.shape(bias).size() > rank || !broadcasts(o.shape(bias), 0))
    o.fail("cannot add a bias of " + shapeText(o.shape(bias)) + " to " + shapeText(result));
}

void checkChannels(const Operands &o, Tensor x, std::initializer_list<Tensor> channels) {
  if (o.rank(x) < 2)
    o.fail("'" + o.info(x).name + "': expected at least 2 dimensions");
  for (Tensor tensor : channels)
    if (tensor.isValid()) {
      o.expectCount(tensor, o.shape(x)[1]);
      o.expectType(tensor, {ElementType::f32});
    }
}

void checkAlike(const Operands &o, Tensor x, std::initializer_list<Tensor> others) {
  o.expectType(x, {ElementType::f32});
  for (Tensor other : others)
    o.expectLike(other, x);
}

void checkLayerNorm(const Operands &o, Tensor x, std::initializer_list<Tensor> learned) {
  o.expectType(x, {ElementType::f32});
  const Shape &whole = o.shape(x), &wanted = o.shape(*learned.begin());
  if (wanted.empty() || wanted.size() > whole.size() ||
      !std::equal(wanted.rbegin(), wanted.rend(), whole.rbegin()))
    o.fail("expected a scale of the last dimensions of " + shapeText(whole) + ", got " +
           shapeText(wanted));
  for (Tensor tensor : learned)
    if (tensor.isValid()) {
      o.expectShape(tensor, wanted);
      o.expectType(tensor, {ElementType::f32});
    }
}

void checkMask(const Operands &o, Tensor y, Tensor workspace, Activation activation) {
  if (activation == Activation::none)
    return;
  if (!workspace.isValid())
    o.fail("expected a workspace for the fused activation");
  o.expectType(workspace, {ElementType::u8});
  o.expectShape(workspace, o.shape(y));
}

void checkCrossEntropy(const Operands &o, Tensor logits, Tensor target, Tensor weights, Tensor loss,
                       Tensor dlogits) {
  o.expectType(logits, {ElementType::f32});
  o.expectType(target, {ElementType::i64});
  if (o.rank(logits) < 2)
    o.fail("expected logits of at least 2 dimensions");
  const auto axis = static_cast<std::size_t>(classAxis(o.shape(logits), o.shape(target)));
  o.expectCount(target, o.count(logits) / o.shape(logits)[axis]);
  if (weights.isValid()) {
    o.expectType(weights, {ElementType::f32});
    o.expectShape(weights, {o.shape(logits)[axis]});
  }
  o.expectCount(loss, 1);
  o.expectType(loss, {ElementType::f32});
  if (dlogits.isValid())
    o.expectLike(dlogits, logits);
}

void checkMeanSquaredError(const Operands &o, Tensor y, Tensor target, Tensor loss, Tensor dy) {
  for (Tensor tensor : {y, target})
    o.expectType(tensor, {ElementType::f32});
  if (o.count(target) != o.count(y))
    o.fail("expected a target of the output's shape");
  o.expectCount(loss, 1);
  o.expectType(loss, {ElementType::f32});
  if (dy.isValid())
    o.expectCount(dy, o.count(y)), o.expectType(dy, {ElementType::f32});
}

void checkConcat(const Operands &o, std::span<const Tensor> xs, Tensor y, std::int64_t axis) {
  if (xs.empty())
    o.fail("expected at least one operand");
  const auto at = static_cast<std::size_t>(o.expectAxis(y, axis));
  std::int64_t extent = 0;
  for (Tensor x : xs) {
    Shape alike = o.shape(y);
    if (o.shape(x).size() == alike.size())
      alike[at] = o.shape(x)[at];
    o.expectShape(x, alike);
    o.expectType(x, {o.info(y).type});
    extent += alike[at];
  }
  Shape whole = o.shape(y);
  whole[at] = extent;
  o.expectShape(y, whole);
}

void checkSlice(const Operands &o, Tensor whole, Tensor part, const Shape &starts,
                const Shape &steps) {
  const Shape &from = o.shape(whole), &to = o.shape(part);
  o.expectType(part, {o.info(whole).type});
  if (to.size() != from.size() || starts.size() != from.size() || steps.size() != from.size())
    o.fail("expected a start, a step and an extent for each of " + std::to_string(from.size()) +
           " dimensions");
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t last = starts[i] + (to[i] - 1) * steps[i];
    if (std::min(starts[i], last) < 0 || std::max(starts[i], last) >= from[i])
      o.fail("'" + o.info(whole).name + "': dimension " + std::to_string(i) + " has " +
             std::to_string(from[i]) + " positions, the slice goes from " +
             std::to_string(starts[i]) + " to " + std::to_string(last));
  }
}

void checkPad(const Operands &o, Tensor x, Tensor y, const Shape &begins) {
  o.expectType(y, {o.info(x).type});
  if (o.rank(y) != o.rank(x) || begins.size() != o.shape(x).size())
    o.fail("expected a result and paddings of " + std::to_string(o.rank(x)) + " dimensions");
  const PadPart part = padPart(o.shape(x), o.shape(y), begins);
  if (std::any_of(part.extents.begin(), part.extents.end(), [](auto e) { return e < 1; }))
    o.fail("expected some of the operand to remain");
}

void checkTranspose(const Operands &o, Tensor x, Tensor y, const Shape &permutation) {
  const Shape &from = o.shape(x);
  Shape wanted, sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool isPermutation = sorted.size() == from.size();
  for (std::size_t i = 0; isPermutation && i < sorted.size(); ++i)
    isPermutation = sorted[i] == static_cast<std::int64_t>(i);
  if (!isPermutation)
    o.fail("expected a permutation of " + std::to_string(from.size()) + " dimensions, got " +
           shapeText(permutation));
  for (std::int64_t dimension : permutation)
    wanted.push_back(from[static_cast<std::size_t>(dimension)]);
  o.expectShape(y, wanted);
  o.expectType(y, {o.info(x).type});
}

void checkReshape(const Operands &o, Tensor x, Tensor y) {
  o.expectCount(y, o.count(x));
  o.expectType(y, {o.info(x).type});
}

void checkReduce(const Operands &o, Tensor x, Tensor y, const Shape &axes) {
  o.expectType(x, {ElementType::f32});
  Shape reduced = o.shape(x);
  for (std::int64_t axis : axes)
    reduced[static_cast<std::size_t>(o.expectAxis(x, axis))] = 1;
  o.expectCount(y, elementCount(reduced));
  o.expectType(y, {ElementType::f32});
}

void checkPointwise(const Operands &o, std::span<const Tensor> ins, std::span<const Tensor> outs,
                    const PointwiseInfo &info) {
  if (outs.empty())
    o.fail("expected at least one result");
  for (std::span<const Tensor> operands : {ins, outs})
    for (Tensor operand : operands) {
      o.info(operand);
      if (info.flat)
        o.expectCount(operand, o.count(outs[0]));
    }
  const std::size_t places = ins.size(), summands = places - 1;
  const bool hasGate = info.form == LoopForm::reluGradient;
  const bool isSum = hasGate ? (summands == 1 || summands == 2) && info.gate >= 0 &&
                                   static_cast<std::size_t>(info.gate) < places
                             : places == 2;
  if (info.form != LoopForm::other && !(isSum && info.flat && outs.size() == 1))
    o.fail("expected the operands of a sum");
}

void checkDropout(const Operands &o, Tensor x, Tensor y, Tensor mask) {
  checkAlike(o, x, {y});
  o.expectType(mask, {ElementType::u8});
  o.expectShape(mask, o.shape(x));
}

void checkNoise(const Operands &o, Tensor y, std::int64_t distribution) {
  o.expectType(y, {ElementType::f32});
  if (distribution < 0 || distribution > 2)
    o.fail("expected a distribution from 0 to 2, got " + std::to_string(distribution));
}

void checkGathered(const Operands &o, Tensor in, Tensor out, int ranks) {
  const StepTensor &from = o.info(in), &to = o.info(out);
  Shape wanted = from.shape;
  if (wanted.empty())
    o.fail("'" + from.name + "': expected at least one dimension");
  wanted[0] *= ranks;
  if (to.shape != wanted || to.type != from.type)
    o.fail("'" + to.name + "': expected '" + from.name + "' of " + std::to_string(ranks) +
           " ranks along dimension 0");
}

} // namespace syncline::core
