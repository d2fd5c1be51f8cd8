// Shape rules shared by import and folding.
#include "frontend/onnx/ShapeRules.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Without axes the batch stays, also where it is one sample.
static FailureOr<nn::Dims> squeezeShape(NodeImport &node, nn::DimsRef x, BatchLayout::Place place) {
  std::optional<nn::Dims> list = node.list("axes", 1);
  if (!list) {
    nn::Dims result;
    for (std::size_t d = 0; d < x.size(); ++d)
      if (x[d] != 1 || (place && place->dim == static_cast<std::int64_t>(d)))
        result.push_back(x[d]);
    return result;
  }
  SYNCLINE_TRY_MLIR(axes, node.axes(*list, x.size()));
  for (std::int64_t axis : *axes)
    if (x[axis] != 1)
      return node.error("cannot squeeze dimension " + llvm::Twine(axis) + " of " + nn::toString(x) +
                        (place && place->dim == axis ? ", which has the batch" : ""));
  return nn::reducedShape(x, *axes, false);
}

static FailureOr<nn::Dims> unsqueezeShape(NodeImport &node, nn::DimsRef x) {
  std::optional<nn::Dims> list = node.list("axes", 1);
  if (!list)
    return node.error("expected axes");
  SYNCLINE_TRY_MLIR(axes, node.axes(*list, x.size() + list->size()));
  nn::Dims result(x.begin(), x.end());
  for (std::int64_t axis : *axes)
    result.insert(result.begin() + axis, 1);
  return result;
}

/// The shape of Flatten, Squeeze or Unsqueeze.
static FailureOr<nn::Dims> fixedView(NodeImport &node, nn::DimsRef x, BatchLayout::Place place) {
  if (node.op() == "Squeeze")
    return squeezeShape(node, x, place);
  if (node.op() == "Unsqueeze")
    return unsqueezeShape(node, x);
  std::int64_t axis = node.integer("axis", 1); // Flatten; its axis may be the rank
  auto rank = static_cast<std::int64_t>(x.size());
  if (axis < -rank || axis > rank)
    return node.error("axis " + llvm::Twine(axis) + " is not within rank " + llvm::Twine(rank));
  axis += axis < 0 ? rank : 0;
  return nn::Dims{nn::elementCount(x.take_front(axis)), nn::elementCount(x.drop_front(axis))};
}

// The dimension that another batch changes has the batch: of one sample, shapes do not tell it.
FailureOr<View> frontend::viewOf(NodeImport &node, nn::DimsRef x, BatchLayout::Place place) {
  if (node.op() == "Reshape")
    return reshapeView(node, x, place);
  SYNCLINE_TRY_MLIR(dims, fixedView(node, x, place));
  View view{*dims, {}};
  if (!place)
    return view;
  const BatchLayout &layout = node.state.values.layout;
  nn::Dims others(x);
  others[place->dim] = place->factor() * layout.otherBatch();
  const FailureOr<nn::Dims> changed = fixedView(node, others, place);
  if (failed(changed))
    node.state.values.status = Status::ok();
  for (std::size_t d = 0; succeeded(changed) && d < dims->size(); ++d)
    if ((*dims)[d] != (*changed)[d])
      view.place = placeAt(*dims, static_cast<std::int64_t>(d), spanOf(x, *place), layout.batch);
  return view;
}

FailureOr<nn::Dims> frontend::viewShape(NodeImport &node, nn::DimsRef x) {
  FailureOr<View> view = viewOf(node, x, {});
  return failed(view) ? FailureOr<nn::Dims>() : FailureOr<nn::Dims>(view->dims);
}

SliceRanges frontend::wholeRange(nn::DimsRef x) {
  return {nn::Dims(x.size(), 0), nn::Dims(x.size(), 1), nn::Dims(x)};
}

// The ranges are attributes before opset 10 and operands since.
FailureOr<SliceRanges> frontend::sliceRanges(NodeImport &node, nn::DimsRef x) {
  std::optional<nn::Dims> starts = node.list("starts", 1, true), ends = node.list("ends", 2, true);
  if (!starts || !ends)
    return node.error("expected starts and ends");
  nn::Dims every;
  for (size_t i = 0; i < starts->size(); ++i)
    every.push_back(static_cast<std::int64_t>(i));
  nn::Dims axes = node.list("axes", 3).value_or(every);
  nn::Dims steps = node.list("steps", 4).value_or(nn::Dims(starts->size(), 1));
  if (ends->size() != starts->size() || axes.size() != starts->size() ||
      steps.size() != starts->size() || failed(node.axes(axes, x.size())))
    return node.error("expected as many ends, axes and steps as starts, every axis once");
  SliceRanges ranges = wholeRange(x);
  for (size_t i = 0; i < axes.size(); ++i) {
    std::int64_t axis = axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(x.size()) : axes[i];
    std::int64_t size = x[axis], step = steps[i];
    if (step == 0)
      return node.error("expected steps that are not 0");
    auto bound = [&](std::int64_t at) {
      at += at < 0 ? size : 0;
      return step > 0 ? std::clamp<std::int64_t>(at, 0, size)
                      : std::clamp<std::int64_t>(at, -1, size - 1);
    };
    std::int64_t start = bound((*starts)[i]), end = bound((*ends)[i]);
    std::int64_t span = step > 0 ? end - start : start - end;
    std::int64_t stride = step > 0 ? step : -step;
    ranges.starts[axis] = start;
    ranges.steps[axis] = step;
    ranges.counts[axis] = span > 0 ? (span + stride - 1) / stride : 0;
  }
  return ranges;
}

FailureOr<nn::Dims> frontend::reducedAxes(NodeImport &node, size_t rank) {
  nn::Dims list = node.list("axes", 1).value_or(nn::Dims());
  if (node.failed())
    return failure();
  if (list.empty() && node.integer("noop_with_empty_axes", 0) == 0)
    for (size_t i = 0; i < rank; ++i)
      list.push_back(static_cast<std::int64_t>(i));
  return node.axes(list, rank);
}

FailureOr<nn::Dims> frontend::permutation(NodeImport &node, size_t rank) {
  nn::Dims reversed;
  for (size_t i = rank; i-- > 0;)
    reversed.push_back(static_cast<std::int64_t>(i));
  nn::Dims order = node.integers("perm").value_or(reversed), sorted = order;
  llvm::sort(sorted);
  if (sorted != nn::Dims(llvm::reverse(reversed)))
    return node.error("perm " + nn::toString(order) + " is not a permutation of " +
                      llvm::Twine(rank) + " dimensions");
  return order;
}

FailureOr<nn::Dims> frontend::tileRepeats(NodeImport &node, size_t rank) {
  const std::optional<nn::Dims> repeats = node.list("repeats", 1);
  if (!repeats || repeats->size() != rank ||
      llvm::any_of(*repeats, [](std::int64_t count) { return count < 0; }))
    return node.error("expected constant repeats of each of " + llvm::Twine(rank) + " dimensions");
  return *repeats;
}

FailureOr<std::int64_t> frontend::gatherAxis(NodeImport &node, size_t rank) {
  return node.axis(node.integer("axis", 0), rank);
}

FailureOr<nn::Dims> frontend::gatherIndices(NodeImport &node, std::int64_t size) {
  const ConstantTensor *indices = node.constant(1);
  if (!indices || indices->isReal())
    return node.error("expected constant integers as indices, got '" + node.inputName(1) + "'");
  nn::Dims result;
  for (std::int64_t index : indices->ints) {
    if (index < -size || index >= size)
      return node.error("index " + llvm::Twine(index) + " is not within size " + llvm::Twine(size));
    result.push_back(index < 0 ? index + size : index);
  }
  return result;
}

// Shape has a start and an end since opset 15.
ConstantTensor frontend::shapeConstant(NodeImport &node, nn::DimsRef dims) {
  if (node.op() == "Size") {
    ConstantTensor size = integerList({nn::elementCount(dims)});
    size.dims.clear();
    return size;
  }
  auto rank = static_cast<std::int64_t>(dims.size());
  auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  std::int64_t start = bound(node.integer("start", 0)), end = bound(node.integer("end", rank));
  return integerList(dims.slice(start, std::max<std::int64_t>(end - start, 0)));
}
