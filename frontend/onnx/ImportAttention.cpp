// Attention, RotaryEmbedding and RMSNormalization by the operations that they are defined by.
#include "frontend/onnx/OpTable.h"

#include "llvm/Support/MathExtras.h"

#include "onnx/onnx_pb.h"

#include <cmath>
#include <limits>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Kind = nn::BinaryKind;

static Value transposed(NodeImport &node, Value x, nn::DimsRef order) {
  nn::Dims dims;
  for (std::int64_t d : order)
    dims.push_back(shapeOf(x)[d]);
  return node.create<nn::TransposeOp>(RankedTensorType::get(dims, elementOf(x)), x, order);
}

/// Part [begin, begin + count·step) of the last dimension.
static Value partOfLast(NodeImport &node, Value x, std::int64_t begin, std::int64_t count,
                        std::int64_t step = 1) {
  nn::Dims dims(shapeOf(x)), starts(dims.size(), 0), steps(dims.size(), 1);
  dims.back() = count;
  starts.back() = begin;
  steps.back() = step;
  return node.create<nn::SliceOp>(RankedTensorType::get(dims, elementOf(x)), x, starts, steps);
}

static Value concatLast(NodeImport &node, llvm::ArrayRef<Value> parts) {
  nn::Dims dims(shapeOf(parts[0]));
  for (Value part : parts.drop_front())
    dims.back() += shapeOf(part).back();
  return node.create<nn::ConcatOp>(RankedTensorType::get(dims, elementOf(parts[0])), parts,
                                   static_cast<std::uint64_t>(dims.size() - 1));
}

static Value binary(NodeImport &node, Kind kind, Value a, Value b) {
  FailureOr<Value> value = createBinary(node, kind, a, b);
  return failed(value) ? Value() : *value;
}

/// Splits the last dimension of [batch, sequence, hidden] into `heads` parts: [batch, sequence,
/// heads, size].
static Value splitHeads(NodeImport &node, Value x, std::int64_t heads, llvm::StringRef name) {
  const nn::DimsRef dims = shapeOf(x);
  if (heads < 1 || dims[2] % heads != 0) {
    (void)node.error("expected " + name + " that divides " + llvm::Twine(dims[2]) + ", got " +
                     llvm::Twine(heads));
    return {};
  }
  return node.reshape(x, {dims[0], dims[1], heads, dims[2] / heads});
}

/// [batch, heads, sequence, size], where the operand may be [batch, sequence, heads·size].
static Value headsOf(NodeImport &node, unsigned i, llvm::StringRef name) {
  Value x = node.tensor(i);
  if (shapeOf(x).size() == 4)
    return x;
  if (shapeOf(x).size() != 3) {
    (void)node.error("expected operand " + llvm::Twine(i + 1) + " of rank 3 or 4, got " +
                     nn::toString(shapeOf(x)));
    return {};
  }
  Value split = splitHeads(node, x, node.integer(name, 0), name);
  return split ? transposed(node, split, {0, 2, 1, 3}) : split;
}

/// Each head of keys or values `times` times, one behind the other.
static Value repeatedHeads(NodeImport &node, Value x, std::int64_t times) {
  if (times == 1)
    return x;
  const nn::Dims dims(shapeOf(x));
  Value apart = node.reshape(x, {dims[0], dims[1], 1, dims[2], dims[3]});
  auto wide = RankedTensorType::get({dims[0], dims[1], times, dims[2], dims[3]}, elementOf(x));
  return node.reshape(node.create<nn::BroadcastOp>(wide, apart),
                      {dims[0], dims[1] * times, dims[2], dims[3]});
}

static Value scaledBy(NodeImport &node, Value x, double factor) {
  return factor == 1 ? x : binary(node, Kind::mul, x, node.scalar(factor, x));
}

/// Scores where `truth` is one, and minus infinity elsewhere. Null with an error where its shape
/// does not fit.
static Value keptScores(NodeImport &node, Value scores, Value truth) {
  Value no = node.scalar(-std::numeric_limits<double>::infinity(), scores);
  Value hidden = binary(node, Kind::sub, node.scalar(1, truth), truth);
  Value kept = binary(node, Kind::mask, scores, truth);
  return kept ? binary(node, Kind::add, kept, binary(node, Kind::mask, no, hidden)) : kept;
}

/// One where the key is not behind the query.
static Value causalTruth(NodeImport &node, Value scores) {
  const std::int64_t queries = shapeOf(scores)[2], keys = shapeOf(scores)[3];
  llvm::SmallVector<float> values;
  for (std::int64_t query = 0; query < queries; ++query)
    for (std::int64_t key = 0; key < keys; ++key)
      values.push_back(key <= query ? 1.0F : 0.0F);
  auto type = RankedTensorType::get({queries, keys}, elementOf(scores));
  return node.create<nn::ConstantOp>(type, DenseElementsAttr::get(type, llvm::ArrayRef(values)));
}

static Value maskedScores(NodeImport &node, Value scores) {
  const Type type = scores.getType();
  if (node.hasInput(3)) {
    Value mask = node.state.values.real(node.inputName(3));
    if (!mask || elementOf(mask) != elementOf(scores)) {
      (void)node.error("expected a mask of truth values or of the scores' type");
      return {};
    }
    scores = isWholeOperand(node, 3) ? keptScores(node, scores, mask)
                                     : binary(node, Kind::add, scores, mask);
    if (scores && scores.getType() != type) {
      (void)node.error("mask " + nn::toString(shapeOf(mask)) +
                       " does not broadcast to the scores' " +
                       nn::toString(cast<RankedTensorType>(type).getShape()));
      return {};
    }
  }
  if (scores && node.integer("is_causal", 0) != 0)
    scores = keptScores(node, scores, causalTruth(node, scores));
  return scores;
}

/// Checks that [batch, heads, length, size] of queries, keys and values fit together.
static LogicalResult checkHeads(NodeImport &node, Value q, Value k, Value v) {
  const nn::DimsRef a = shapeOf(q), b = shapeOf(k), c = shapeOf(v);
  if (a[0] == b[0] && a[0] == c[0] && b[1] == c[1] && b[2] == c[2] && a[3] == b[3] &&
      a[1] % b[1] == 0)
    return success();
  return node.error("queries " + nn::toString(a) + ", keys " + nn::toString(b) + " and values " +
                    nn::toString(c) + " do not fit together");
}

// softmax(q·kᵀ·scale + mask)·v
static LogicalResult importAttention(NodeImport &node) {
  if (node.hasInput(4) || node.hasInput(5) || node.isUsed(1) || node.isUsed(2) || node.isUsed(3))
    return node.error("past keys and values, and scores as results, are not supported");
  Value q = headsOf(node, 0, "q_num_heads"), k = q ? headsOf(node, 1, "kv_num_heads") : q;
  Value v = k ? headsOf(node, 2, "kv_num_heads") : k;
  if (!v || failed(checkHeads(node, q, k, v)))
    return failure();
  const std::int64_t times = shapeOf(q)[1] / shapeOf(k)[1];
  k = repeatedHeads(node, k, times);
  v = repeatedHeads(node, v, times);
  q = scaledBy(node, q, node.real("scale", 1 / std::sqrt(static_cast<double>(shapeOf(q).back()))));
  SYNCLINE_TRY_MLIR(scores, createMatmul(node, q, false, k, true, {}));
  Value s = *scores;
  if (const double cap = node.real("softcap", 0); cap != 0) {
    s = scaledBy(node, s, 1 / cap);
    s = node.create<nn::UnaryOp>(s.getType(), nn::UnaryKind::tanh, s, llvm::APFloat(0.0),
                                 llvm::APFloat(0.0));
    s = scaledBy(node, s, cap);
  }
  s = maskedScores(node, s);
  if (!s)
    return failure();
  s = node.create<nn::SoftmaxOp>(s.getType(), s, std::uint64_t{3}, /*logarithm=*/false).getY();
  SYNCLINE_TRY_MLIR(y, createMatmul(node, s, false, v, false, {}));
  if (shapeOf(node.tensor(0)).size() == 4)
    return node.define(*y);
  Value moved = transposed(node, *y, {0, 2, 1, 3});
  const nn::Dims dims(shapeOf(moved));
  return node.define(node.reshape(moved, {dims[0], dims[1], dims[2] * dims[3]}));
}

/// A table of cosines or sines, which is not trained though it may be an initialiser, with a row
/// for each position: [1 or batch, sequence, size].
static Value anglesOf(NodeImport &node, unsigned table, unsigned positions) {
  const std::string &name = node.inputName(table);
  Value rows =
      node.state.values.isStored(name) ? node.state.values.state(name) : node.tensor(table);
  if (!rows || !isa<FloatType>(elementOf(rows))) {
    (void)node.error("expected floating-point cosines and sines");
    return {};
  }
  if (node.hasInput(positions)) {
    Value ids = node.tensor(positions);
    if (!ids || !elementOf(ids).isInteger(64) || shapeOf(rows).size() != 2) {
      (void)node.error("expected int64 positions in tables of rank 2");
      return {};
    }
    nn::Dims dims(shapeOf(ids));
    dims.push_back(shapeOf(rows)[1]);
    rows = node.create<nn::EmbeddingOp>(RankedTensorType::get(dims, elementOf(rows)), ids, rows);
  }
  if (shapeOf(rows).size() == 3)
    return rows;
  (void)node.error("expected a cosine and a sine for each position of a sample, got " +
                   nn::toString(shapeOf(rows)));
  return {};
}

/// The parts of the last dimension that are turned, each pair by an angle, put together again.
static Value turned(NodeImport &node, Value x, Value cosine, Value sine, bool isInterleaved) {
  const std::int64_t half = shapeOf(x).back() / 2;
  Value a = partOfLast(node, x, 0, half, isInterleaved ? 2 : 1);
  Value b = partOfLast(node, x, isInterleaved ? 1 : half, half, isInterleaved ? 2 : 1);
  Value real =
      binary(node, Kind::sub, binary(node, Kind::mul, a, cosine), binary(node, Kind::mul, b, sine));
  Value imaginary =
      binary(node, Kind::add, binary(node, Kind::mul, a, sine), binary(node, Kind::mul, b, cosine));
  if (!isInterleaved)
    return concatLast(node, {real, imaginary});
  nn::Dims pairs(shapeOf(real));
  pairs.push_back(1);
  Value joined = concatLast(node, {node.reshape(real, pairs), node.reshape(imaginary, pairs)});
  return node.reshape(joined, nn::Dims(shapeOf(x)));
}

// com.microsoft has the positions behind x, and the number of heads may follow from the tables.
static LogicalResult importRotaryEmbedding(NodeImport &node) {
  const bool isForeign = !node.proto.domain().empty() && node.proto.domain() != "ai.onnx";
  const unsigned cosines = isForeign ? 2 : 1, positions = isForeign ? 1 : 3;
  if (isForeign && !node.hasInput(cosines + 1))
    return node.error("expected operands x, positions, cosines and sines");
  if (node.real("scale", 1) != 1 || node.integer("is_packed_batching", 0) != 0)
    return node.error("a scale and packed batches are not supported");
  if (isForeign && node.integer("rotary_embedding_dim", 0) != 0 &&
      node.integer("num_heads", 0) == 0)
    return node.error("expected num_heads, since rotary_embedding_dim is given");
  Value x = node.tensor(0), cosine = anglesOf(node, cosines, positions);
  Value sine = cosine ? anglesOf(node, cosines + 1, positions) : cosine;
  if (!sine)
    return failure();
  const nn::Dims whole(shapeOf(x));
  const bool isJoined = whole.size() == 3;
  std::int64_t heads = node.integer("num_heads", 0);
  if (isForeign && isJoined && heads == 0)
    heads = whole[2] / (2 * shapeOf(cosine).back());
  if (isJoined)
    x = splitHeads(node, x, heads, "num_heads");
  if (!x || shapeOf(x).size() != 4)
    return node.error("expected x of rank 3 or 4, got " + nn::toString(whole));
  const std::int64_t size = shapeOf(x).back();
  const std::int64_t given = node.integer("rotary_embedding_dim", 0), part = given ? given : size;
  const nn::Dims angles(shapeOf(cosine)), dims(shapeOf(x));
  const std::int64_t length = dims[isJoined ? 1 : 2];
  if (part < 2 || part > size || part % 2 != 0 || angles.back() != part / 2 ||
      angles[1] != length || (angles[0] != 1 && angles[0] != dims[0]) ||
      cosine.getType() != sine.getType())
    return node.error("cosines " + nn::toString(angles) + " and sines " +
                      nn::toString(shapeOf(sine)) + " do not fit x " + nn::toString(whole));
  const nn::Dims placed = isJoined ? nn::Dims{angles[0], length, 1, part / 2}
                                   : nn::Dims{angles[0], 1, length, part / 2};
  Value first = part == size ? x : partOfLast(node, x, 0, part);
  Value y = turned(node, first, node.reshape(cosine, placed), node.reshape(sine, placed),
                   node.integer("interleaved", 0) != 0);
  if (part < size)
    y = concatLast(node, {y, partOfLast(node, x, part, size - part)});
  return node.define(node.reshape(y, whole));
}

// x·scale / √(mean of x² + epsilon)
static LogicalResult importRmsNormalization(NodeImport &node) {
  Value x = node.tensor(0), scale = node.tensor(1);
  const double epsilon = node.real("epsilon", 1e-5);
  const nn::Dims dims(shapeOf(x));
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", -1), dims.size()));
  if (!(epsilon >= 0))
    return node.error("expected an epsilon that is not negative, got " + decimal(epsilon));
  nn::Dims axes;
  for (std::int64_t d = *axis; d < static_cast<std::int64_t>(dims.size()); ++d)
    axes.push_back(d);
  auto mean = node.type(nn::reducedShape(dims, axes, /*keepDims=*/true), x);
  FailureOr<Value> square = createBinary(node, Kind::mul, x, x);
  if (failed(mean) || failed(square))
    return failure();
  Value root = node.create<nn::ReduceOp>(*mean, nn::Reduction::mean, *square, axes);
  root = binary(node, Kind::add, root, node.scalar(epsilon, x));
  root = node.create<nn::UnaryOp>(root.getType(), nn::UnaryKind::sqrt, root, llvm::APFloat(0.0),
                                  llvm::APFloat(0.0));
  Value y = binary(node, Kind::mul, binary(node, Kind::div, x, root), scale);
  if (!y || y.getType() != x.getType())
    return node.error("scale " + nn::toString(shapeOf(scale)) + " does not broadcast to " +
                      nn::toString(dims));
  return node.define(y);
}

OpRows frontend::attentionOps() {
  static constexpr OpRow rows[] = {
      {"Attention", {importAttention, 3, 3}},
      {"RMSNormalization", {importRmsNormalization, 2, 2}},
      {"RotaryEmbedding", {importRotaryEmbedding, 3, 1}},
  };
  return rows;
}
