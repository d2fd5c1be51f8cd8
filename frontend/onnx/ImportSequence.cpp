// Sequences whose elements are known at import by name: they are no tensors of the step.
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Replacement.h"
#include "frontend/onnx/ShapeRules.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Items = std::vector<SequenceItem>;

/// The elements of operand `i`; null with an error where they are not known.
static const Items *itemsOf(NodeImport &node, unsigned i) {
  const auto place = node.state.sequences.find(node.inputName(i));
  if (place != node.state.sequences.end())
    return &place->second;
  (void)node.error("expected a sequence that is known at import, got '" + node.inputName(i) + "'");
  return nullptr;
}

static LogicalResult defineSequence(NodeImport &node, Items items) {
  constexpr std::size_t most = 1 << 16;
  if (items.size() >= most)
    return node.error("expected a sequence of fewer than " + llvm::Twine(most) + " elements");
  if (node.isUsed(0))
    node.state.sequences[node.proto.output(0)] = std::move(items);
  return success();
}

/// A place in a sequence, operand `i`, counted from the front; `last` is the last one allowed.
static FailureOr<std::size_t> placeIn(NodeImport &node, unsigned i, std::size_t size, bool isNew) {
  const ConstantTensor *place = node.isKnown(i) ? node.constant(i) : nullptr;
  if (!place || place->isReal() || place->size() != 1)
    return node.error("expected a constant place in a sequence, got '" + node.inputName(i) + "'");
  const std::int64_t count = static_cast<std::int64_t>(size), at = place->ints[0];
  if (at < -count || at >= count + (isNew ? 1 : 0))
    return node.error("place " + llvm::Twine(at) + " is not within a sequence of " +
                      llvm::Twine(count) + " elements");
  return static_cast<std::size_t>(at < 0 ? at + count : at);
}

static LogicalResult importConstruct(NodeImport &node) {
  Items items;
  for (unsigned i = 0; i < node.inputCount(); ++i) {
    if (!node.hasInput(i))
      return node.error("operand " + llvm::Twine(i + 1) + " is missing");
    items.push_back({node.inputName(i)});
  }
  return defineSequence(node, std::move(items));
}

static LogicalResult importEmpty(NodeImport &node) { return defineSequence(node, {}); }

static LogicalResult importInsert(NodeImport &node) {
  const Items *known = itemsOf(node, 0);
  if (!known)
    return failure();
  FailureOr<std::size_t> at = known->size();
  if (node.hasInput(2))
    at = placeIn(node, 2, known->size(), /*isNew=*/true);
  if (failed(at))
    return failure();
  Items items = *known;
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(*at), {node.inputName(1)});
  return defineSequence(node, std::move(items));
}

static LogicalResult importErase(NodeImport &node) {
  const Items *known = itemsOf(node, 0);
  if (!known)
    return failure();
  FailureOr<std::size_t> at = known->size() - 1;
  if (node.hasInput(1) || known->empty())
    at = node.hasInput(1) ? placeIn(node, 1, known->size(), /*isNew=*/false)
                          : FailureOr<std::size_t>(node.error("the sequence is empty"));
  if (failed(at))
    return failure();
  Items items = *known;
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(*at));
  return defineSequence(node, std::move(items));
}

static LogicalResult importLength(NodeImport &node) {
  const Items *items = itemsOf(node, 0);
  if (!items)
    return failure();
  ConstantTensor length = integerList({static_cast<std::int64_t>(items->size())});
  length.dims.clear();
  return node.defineConstant(std::move(length));
}

/// The sizes of the parts: given, or all of one size but the last.
static FailureOr<nn::Dims> partSizes(NodeImport &node, std::int64_t size) {
  const ConstantTensor one = integerList({1});
  const ConstantTensor *sizes = node.hasInput(1) ? node.constant(1) : &one;
  if (!sizes || sizes->isReal() || sizes->ints.empty())
    return node.error("expected constant sizes of its parts");
  nn::Dims parts(sizes->ints.begin(), sizes->ints.end());
  if ((sizes->dims.empty() || sizes == &one) && parts[0] > 0) {
    constexpr std::int64_t mostParts = 1 << 16;
    const std::int64_t part = std::min(parts[0], size);
    if (size / part >= mostParts)
      return node.error("expected fewer than " + llvm::Twine(mostParts) + " parts");
    parts.assign((size + part - 1) / part, part);
    parts.back() = size - part * (static_cast<std::int64_t>(parts.size()) - 1);
  }
  std::int64_t left = size; // no sum of parts, which could overflow
  for (const std::int64_t part : parts) {
    if (part < 1 || part > left) {
      left = -1;
      break;
    }
    left -= part;
  }
  if (left != 0)
    return node.error("expected parts that make up " + llvm::Twine(size) + ", got " +
                      nn::toString(parts));
  return parts;
}

// Parts are made where one is taken out of the sequence.
static LogicalResult importSplitToSequence(NodeImport &node) {
  const RankedTensorType type = node.state.values.typeOf(node.inputName(0));
  if (!type)
    return node.error("operand '" + node.inputName(0) + "' cannot be computed with");
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", 0), type.getRank()));
  SYNCLINE_TRY_MLIR(sizes, partSizes(node, type.getDimSize(*axis)));
  const bool isSqueezed = !node.hasInput(1) && node.integer("keepdims", 1) == 0;
  Items items;
  std::int64_t start = 0;
  for (const std::int64_t size : *sizes) {
    items.push_back({node.inputName(0), *axis, start, size, isSqueezed});
    start += size;
  }
  return defineSequence(node, std::move(items));
}

static LogicalResult definePart(NodeImport &node, const SequenceItem &item) {
  GraphValues &values = node.state.values;
  Value x = values.tensor(item.name);
  if (!x)
    return node.error("operand '" + item.name + "' cannot be computed with");
  SliceRanges ranges = wholeRange(shapeOf(x));
  ranges.starts[item.axis] = item.start;
  ranges.counts[item.axis] = item.size;
  FailureOr<Value> y = createSlice(node, x, ranges);
  if (succeeded(y) && item.isSqueezed)
    y = node.reshape(*y, nn::reducedShape(ranges.counts, {item.axis}, false));
  if (failed(y) || failed(node.define(*y)))
    return failure();
  if (!node.isUsed(0))
    return success();
  // The sequence is no tensor, so that define cannot know.
  values.setTensor(node.proto.output(0), *y, values.isBatched(item.name));
  if (values.isWhole(item.name))
    values.setWhole(node.proto.output(0), values.wholeType(item.name), values.boundsOf(item.name));
  return success();
}

static LogicalResult importSequenceAt(NodeImport &node) {
  const Items *items = itemsOf(node, 0);
  SYNCLINE_TRY_MLIR(at, items ? placeIn(node, 1, items->size(), /*isNew=*/false)
                              : FailureOr<std::size_t>());
  const SequenceItem &item = (*items)[*at];
  if (item.size >= 0)
    return definePart(node, item);
  if (node.isUsed(0))
    node.state.values.setAlias(node.proto.output(0), item.name, /*isIdentity=*/false);
  return success();
}

// Elements are taken out, get the new dimension, and are joined, by a node each.
static LogicalResult importConcatFromSequence(NodeImport &node) {
  const Items *items = itemsOf(node, 0);
  if (!items)
    return failure();
  if (items->empty() || !node.attribute("axis"))
    return node.error(items->empty() ? "the sequence is empty" : "expected an axis");
  Replacement copies(node);
  onnx::NodeProto concat;
  concat.set_op_type("Concat");
  concat.set_name(node.layerName() + "/Concat");
  onnx::AttributeProto &axis = *concat.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(node.integer("axis", 0));
  concat.add_output(node.proto.output(0));
  const bool isNew = node.integer("new_axis", 0) != 0;
  for (std::size_t i = 0; i < items->size(); ++i) {
    std::string name = (*items)[i].name;
    if ((*items)[i].size >= 0) {
      FailureOr<std::string> place =
          copies.constant({static_cast<std::int64_t>(i)}, false, onnx::TensorProto::INT64);
      if (failed(place))
        return failure();
      onnx::NodeProto at;
      at.set_op_type("SequenceAt");
      at.set_name(node.layerName() + "/SequenceAt");
      at.add_input(node.inputName(0));
      at.add_input(*place);
      at.add_output(name = copies.fresh("element"));
      if (failed(copies.append(std::move(at))))
        return failure();
    }
    if (isNew) {
      FailureOr<std::string> inserted = copies.unsqueezed(name, node.integer("axis", 0));
      if (failed(inserted))
        return failure();
      name = *inserted;
    }
    concat.add_input(name);
  }
  return failed(copies.append(std::move(concat))) ? failure() : copies.finish();
}

bool frontend::importSequenceAlias(NodeImport &node) {
  const auto place = node.state.sequences.find(node.inputName(0));
  if (place == node.state.sequences.end())
    return false;
  if (node.isUsed(0)) {
    Items items = place->second;
    node.state.sequences[node.proto.output(0)] = std::move(items);
  }
  return true;
}

OpRows frontend::sequenceOps() {
  static constexpr OpRow rows[] = {
      {"ConcatFromSequence", {importConcatFromSequence, 1, 0}},
      {"SequenceAt", {importSequenceAt, 2, 0}},
      {"SequenceConstruct", {importConstruct, 1, 0}},
      {"SequenceEmpty", {importEmpty, 0, 0}},
      {"SequenceErase", {importErase, 1, 0}},
      {"SequenceInsert", {importInsert, 2, 0}},
      {"SequenceLength", {importLength, 1, 0}},
      {"SplitToSequence", {importSplitToSequence, 1, 0}},
  };
  return rows;
}
