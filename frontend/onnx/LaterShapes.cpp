// One function an operator, in ONNX's words: what its specification says of shapes.
#include "frontend/onnx/LaterShapes.h"

#include "frontend/onnx/ShapeRules.h"
#include "frontend/onnx/WindowAttributes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

using Shapes = FailureOr<llvm::SmallVector<nn::Dims>>;

/// The shape of operand `i`. The node fails where the operand is missing or of another rank.
FailureOr<nn::Dims> shapeAt(NodeImport &node, unsigned i, std::size_t least,
                            std::size_t most = ~std::size_t{0}) {
  const RankedTensorType type =
      node.hasInput(i) ? node.state.values.typeOf(node.inputName(i)) : RankedTensorType();
  if (!type)
    return node.error("expected operand " + llvm::Twine(i + 1));
  const nn::Dims dims(type.getShape());
  if (dims.size() < least || dims.size() > most)
    return node.error("operand " + llvm::Twine(i + 1) +
                      " has an unexpected rank: " + nn::toString(dims));
  return dims;
}

/// The integers of operand `i`, `count` of them. The node fails where they are not constant.
FailureOr<nn::Dims> integersAt(NodeImport &node, unsigned i, std::size_t count) {
  const ConstantTensor *constant = node.hasInput(i) ? node.constant(i) : nullptr;
  if (!constant || constant->isReal() || constant->ints.size() != count)
    return node.error("expected " + llvm::Twine(count) + " constant integers as operand " +
                      llvm::Twine(i + 1));
  return nn::Dims(constant->ints.begin(), constant->ints.end());
}

/// The one integer of operand `i`; nothing where the node has no such operand.
FailureOr<std::optional<std::int64_t>> integerAt(NodeImport &node, unsigned i) {
  if (!node.hasInput(i))
    return std::optional<std::int64_t>();
  SYNCLINE_TRY_MLIR(all, integersAt(node, i, 1));
  return std::optional(all->front());
}

Shapes one(nn::Dims dims) { return llvm::SmallVector<nn::Dims>{std::move(dims)}; }

Shapes sameAsFirst(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 0));
  return one(*x);
}

Shapes broadcasts(NodeImport &node) {
  SYNCLINE_TRY_MLIR(a, shapeAt(node, 0, 0));
  SYNCLINE_TRY_MLIR(b, shapeAt(node, 1, 0));
  llvm::Expected<nn::Dims> dims = nn::broadcastShape(*a, *b);
  if (!dims)
    return node.error(llvm::toString(dims.takeError()));
  return one(*dims);
}

Shapes reduced(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 0));
  SYNCLINE_TRY_MLIR(axes, reducedAxes(node, x->size()));
  return one(nn::reducedShape(*x, *axes, node.integer("keepdims", 1) != 0));
}

// theta is [N, 2, 3] or [N, 3, 4]; size is that of the images, [N, C, spatial ...].
Shapes affineGrid(NodeImport &node) {
  SYNCLINE_TRY_MLIR(theta, shapeAt(node, 0, 3, 3));
  const std::int64_t spatial = (*theta)[1];
  if ((spatial != 2 && spatial != 3) || (*theta)[2] != spatial + 1)
    return node.error("expected theta of shape Nx2x3 or Nx3x4, got " + nn::toString(*theta));
  SYNCLINE_TRY_MLIR(size, integersAt(node, 1, static_cast<std::size_t>(spatial) + 2));
  nn::Dims dims{(*theta)[0]};
  dims.append(size->begin() + 2, size->end());
  dims.push_back(spatial);
  return one(dims);
}

// grid is [N, spatial ..., spatial rank].
Shapes gridSample(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 3));
  SYNCLINE_TRY_MLIR(grid, shapeAt(node, 1, x->size(), x->size()));
  if (grid->back() != static_cast<std::int64_t>(x->size()) - 2 || grid->front() != x->front())
    return node.error("grid " + nn::toString(*grid) + " does not fit x " + nn::toString(*x));
  nn::Dims dims{(*x)[0], (*x)[1]};
  dims.append(grid->begin() + 1, grid->end() - 1);
  return one(dims);
}

Shapes centerCropPad(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 0));
  const auto rank = static_cast<std::int64_t>(x->size());
  nn::Dims axes =
      node.integers("axes").value_or(llvm::to_vector<6>(llvm::seq<std::int64_t>(0, rank)));
  SYNCLINE_TRY_MLIR(sizes, integersAt(node, 1, axes.size()));
  for (const auto [axis, size] : llvm::zip(axes, *sizes)) {
    SYNCLINE_TRY_MLIR(place, node.axis(axis, x->size()));
    (*x)[*place] = size;
  }
  return one(*x);
}

// x is [N, C · block, L], with one column of L for each place of the block.
Shapes columnsToImage(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 3, 3));
  SYNCLINE_TRY_MLIR(image, shapeAt(node, 1, 1, 1));
  const auto rank = static_cast<std::size_t>(image->front());
  SYNCLINE_TRY_MLIR(sizes, integersAt(node, 1, rank));
  SYNCLINE_TRY_MLIR(block, integersAt(node, 2, rank));
  if (!isSaneShape(*block, 1) || (*x)[1] % nn::elementCount(*block) != 0)
    return node.error("block " + nn::toString(*block) + " does not divide the " +
                      llvm::Twine((*x)[1]) + " rows of x");
  nn::Dims dims{(*x)[0], (*x)[1] / nn::elementCount(*block)};
  dims.append(*sizes);
  return one(dims);
}

Shapes deformConv(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 3));
  SYNCLINE_TRY_MLIR(w, shapeAt(node, 1, x->size(), x->size()));
  SYNCLINE_TRY_MLIR(window,
                    readWindow(node, nn::DimsRef(*x).drop_front(2), nn::DimsRef(*w).drop_front(2)));
  llvm::Expected<nn::Dims> dims = nn::convShape(*x, *w, window->ref(), node.integer("group", 1));
  if (!dims)
    return node.error(llvm::toString(dims.takeError()));
  return one(*dims);
}

// LpPool has dilations and ceil_mode since opset 18.
Shapes lpPool(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 3));
  const nn::DimsRef spatial = nn::DimsRef(*x).drop_front(2);
  SYNCLINE_TRY_MLIR(window,
                    readWindow(node, spatial, node.integers("kernel_shape").value_or(nn::Dims())));
  if (node.integer("ceil_mode", 0) != 0)
    for (const auto [pad, more] : llvm::zip(window->padsEnd, ceilPads(*window, spatial)))
      pad += more;
  llvm::Expected<nn::Dims> dims = nn::poolShape(*x, window->ref());
  if (!dims)
    return node.error(llvm::toString(dims.takeError()));
  return one(*dims);
}

// The last dimension has the real and the imaginary part, or the real part alone. The axis is an
// attribute before opset 20.
Shapes fourier(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 2));
  SYNCLINE_TRY_MLIR(length, integerAt(node, 1));
  const bool isOperand = node.opset() >= 20;
  SYNCLINE_TRY_MLIR(operand, integerAt(node, isOperand ? 2 : ~0u));
  SYNCLINE_TRY_MLIR(
      axis, node.axis(isOperand ? operand->value_or(-2) : node.integer("axis", 1), x->size()));
  (*x)[*axis] = length->value_or((*x)[*axis]);
  const bool isOneSided = node.integer("onesided", 0) != 0;
  const bool isInverse = node.integer("inverse", 0) != 0;
  if (isOneSided && !isInverse)
    (*x)[*axis] = (*x)[*axis] / 2 + 1;
  x->back() = isOneSided && isInverse ? 1 : 2;
  return one(*x);
}

// The signal is [N, length, 1 or 2]; frames are as long as the window where no length is given.
Shapes shortFourier(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 2, 3));
  SYNCLINE_TRY_MLIR(step, integerAt(node, 1));
  SYNCLINE_TRY_MLIR(length, integerAt(node, 3));
  std::int64_t frame = length->value_or(0);
  if (!*length && node.hasInput(2)) {
    SYNCLINE_TRY_MLIR(window, shapeAt(node, 2, 1, 1));
    frame = window->front();
  }
  if (step->value_or(0) < 1 || frame < 1 || frame > (*x)[1])
    return node.error("expected a step and a length of frames from 1 to " + llvm::Twine((*x)[1]));
  const bool isOneSided = node.integer("onesided", 1) != 0;
  return one({(*x)[0], ((*x)[1] - frame) / **step + 1, isOneSided ? frame / 2 + 1 : frame, 2});
}

Shapes oneHot(NodeImport &node) {
  SYNCLINE_TRY_MLIR(indices, shapeAt(node, 0, 0));
  const ConstantTensor *depth = node.hasInput(1) ? node.constant(1) : nullptr;
  if (!depth || depth->size() != 1)
    return node.error("expected one constant number as depth");
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", -1), indices->size() + 1));
  const double size = depth->isReal() ? depth->reals[0] : static_cast<double>(depth->ints[0]);
  if (!(size >= 1 && size <= static_cast<double>(maxElements)))
    return node.error("expected a depth of at least 1, got " + decimal(size));
  indices->insert(indices->begin() + *axis, static_cast<std::int64_t>(size));
  return one(*indices);
}

Shapes maxUnpool(NodeImport &node) {
  SYNCLINE_TRY_MLIR(x, shapeAt(node, 0, 3));
  if (node.hasInput(2)) {
    SYNCLINE_TRY_MLIR(given, integersAt(node, 2, x->size()));
    return one(*given);
  }
  const nn::DimsRef spatial = nn::DimsRef(*x).drop_front(2);
  SYNCLINE_TRY_MLIR(window,
                    readWindow(node, spatial, node.integers("kernel_shape").value_or(nn::Dims())));
  for (std::size_t d = 0; d < spatial.size(); ++d) {
    std::int64_t reach = 0;
    if (llvm::MulOverflow((*x)[d + 2] - 1, window->strides[d], reach) || reach > maxElements)
      return node.error("its result is too large");
    (*x)[d + 2] = reach + window->kernel[d] - window->padsBegin[d] - window->padsEnd[d];
  }
  return one(*x);
}

// Y, the present keys and values, and the scores. Operands are [N, heads, length, size] or
// [N, length, heads·size]; past keys and values always have four dimensions.
Shapes attention(NodeImport &node) {
  SYNCLINE_TRY_MLIR(q, shapeAt(node, 0, 3, 4));
  SYNCLINE_TRY_MLIR(k, shapeAt(node, 1, q->size(), q->size()));
  SYNCLINE_TRY_MLIR(v, shapeAt(node, 2, q->size(), q->size()));
  const bool isJoined = q->size() == 3;
  const auto apart = [&](nn::DimsRef x, std::int64_t heads) {
    return isJoined ? nn::Dims{x[0], heads, x[1], x[2] / heads} : nn::Dims(x);
  };
  const std::int64_t queryHeads = isJoined ? node.integer("q_num_heads", 0) : (*q)[1];
  const std::int64_t heads = isJoined ? node.integer("kv_num_heads", 0) : (*k)[1];
  if (queryHeads < 1 || heads < 1 ||
      (isJoined &&
       (q->back() % queryHeads != 0 || k->back() % heads != 0 || v->back() % heads != 0)))
    return node.error("expected q_num_heads and kv_num_heads that divide the last dimensions");
  const nn::Dims queries = apart(*q, queryHeads);
  nn::Dims keys = apart(*k, heads), values = apart(*v, heads);
  if (node.hasInput(4)) {
    SYNCLINE_TRY_MLIR(past, shapeAt(node, 4, 4, 4));
    keys[2] += (*past)[2];
    values[2] += (*past)[2];
  }
  nn::Dims y{queries[0], queryHeads, queries[2], values[3]};
  if (isJoined)
    y = {queries[0], queries[2], queryHeads * values[3]};
  const nn::Dims scores{queries[0], queryHeads, queries[2], keys[2]};
  return llvm::SmallVector<nn::Dims>{y, keys, values, scores};
}

struct Rule {
  llvm::StringLiteral op;
  Shapes (*shapes)(NodeImport &);
  unsigned typedAs = 0; ///< the operand that has the results' element type
};

constexpr Rule rules[] = {
    {"AffineGrid", affineGrid},
    {"Attention", attention},
    {"BitwiseAnd", broadcasts},
    {"BitwiseNot", sameAsFirst},
    {"BitwiseOr", broadcasts},
    {"BitwiseXor", broadcasts},
    {"CenterCropPad", centerCropPad},
    {"Col2Im", columnsToImage},
    {"DFT", fourier},
    {"DeformConv", deformConv},
    {"DequantizeLinear", sameAsFirst, 1},
    {"Gelu", sameAsFirst},
    {"GridSample", gridSample},
    {"GroupNormalization", sameAsFirst},
    {"LpPool", lpPool},
    {"MaxUnpool", maxUnpool},
    {"MeanVarianceNormalization", sameAsFirst},
    {"Mish", sameAsFirst},
    {"OneHot", oneHot, 2},
    {"QuantizeLinear", sameAsFirst, 2},
    {"RMSNormalization", sameAsFirst},
    {"ReduceL1", reduced},
    {"ReduceL2", reduced},
    {"ReduceLogSum", reduced},
    {"ReduceLogSumExp", reduced},
    {"ReduceMax", reduced},
    {"ReduceMean", reduced},
    {"ReduceMin", reduced},
    {"ReduceProd", reduced},
    {"ReduceSum", reduced},
    {"ReduceSumSquare", reduced},
    {"RotaryEmbedding", sameAsFirst},
    {"STFT", shortFourier},
    {"Swish", sameAsFirst},
    {"TensorScatter", sameAsFirst},
};

} // namespace

std::optional<FailureOr<llvm::SmallVector<RankedTensorType>>>
frontend::laterTypes(NodeImport &node) {
  const bool isOnnx = node.proto.domain().empty() || node.proto.domain() == "ai.onnx";
  const Rule *rule =
      isOnnx ? llvm::find_if(rules, [&](const Rule &row) { return row.op == node.op(); })
             : std::end(rules);
  if (rule == std::end(rules))
    return std::nullopt;
  const RankedTensorType like = node.hasInput(rule->typedAs)
                                    ? node.state.values.typeOf(node.inputName(rule->typedAs))
                                    : RankedTensorType();
  if (!like)
    return std::nullopt;
  const Shapes shapes = rule->shapes(node);
  if (failed(shapes) || node.failed())
    return FailureOr<llvm::SmallVector<RankedTensorType>>();
  llvm::SmallVector<RankedTensorType> types;
  for (unsigned i = 0; i < node.outputCount(); ++i) {
    const bool isKnown = i < shapes->size() && isSaneShape((*shapes)[i], 1);
    types.push_back(isKnown ? RankedTensorType::get((*shapes)[i], like.getElementType())
                            : RankedTensorType());
  }
  return types;
}
