// Finds the entry of a Reshape's target that carries the batch.
#include "frontend/onnx/ReshapeRule.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// The target's entries, with zeros replaced by what they copy.
struct Target {
  nn::Dims entries;
  llvm::SmallVector<bool> fromBatch; ///< those that differ at another batch

  std::optional<std::size_t> open() const {
    const auto place = llvm::find(entries, -1);
    return place == entries.end() ? std::nullopt
                                  : std::optional<std::size_t>(place - entries.begin());
  }
};

} // namespace

static LogicalResult checkEntries(NodeImport &node, const nn::Dims &entries) {
  std::int64_t known = 1;
  bool isOpen = false;
  for (const std::int64_t d : entries) {
    const bool opens = d == -1 && !isOpen;
    isOpen |= opens;
    if (!opens && (d < 0 || (d != 0 && known > maxElements / d)))
      return node.error("target shape " + nn::toString(entries) + " is not valid");
    known *= opens ? 1 : d;
  }
  return success();
}

static FailureOr<Target> readTarget(NodeImport &node, nn::DimsRef x, BatchLayout::Place place) {
  const ConstantTensor *shape = node.constant(1);
  if (!shape || shape->isReal() || shape->dims.size() != 1)
    return node.error("expected constant integers as target shape, got '" + node.inputName(1) +
                      "'");
  Target target{nn::Dims(shape->ints.begin(), shape->ints.end()), {}};
  target.fromBatch.assign(shape->ints.size(), false);
  const ConstantTensor *other = shape->atOtherBatch.get();
  if (other && other->dims == shape->dims)
    for (std::size_t i = 0; i < target.entries.size(); ++i)
      target.fromBatch[i] = other->ints[i] != shape->ints[i];
  const bool copies = node.integer("allowzero", 0) == 0;
  for (std::size_t i = 0; i < target.entries.size() && copies; ++i)
    if (target.entries[i] == 0) {
      if (i >= x.size())
        return node.error("target shape " + nn::toString(target.entries) +
                          " copies a dimension that its operand does not have");
      target.entries[i] = x[i];
      target.fromBatch[i] = place && static_cast<std::int64_t>(i) == place->dim;
    }
  if (mlir::failed(checkEntries(node, target.entries)))
    return failure();
  return target;
}

/// The result where entry `c` has `factor` entries a sample; unset where samples would mix. An open
/// entry's factor is what is left to it.
static std::optional<View> carriedBy(const Target &target, std::size_t c, std::int64_t factor,
                                     BatchSpan span, std::int64_t batch) {
  View view{target.entries, {}};
  const std::optional<std::size_t> open = target.open();
  std::int64_t known = 1;
  for (std::size_t i = 0; i < view.dims.size(); ++i)
    known *= i == c || i == open ? 1 : view.dims[i];
  const std::int64_t sample = span.before * span.after;
  if (open != c)
    known *= factor;
  if (known < 1 || sample % known != 0)
    return std::nullopt;
  if (open)
    view.dims[*open] = sample / known;
  view.dims[c] = (open == c ? sample / known : factor) * batch;
  view.place = placeAt(view.dims, static_cast<std::int64_t>(c), span, batch);
  return view.place ? std::optional(view) : std::nullopt;
}

/// The result in whose shape the batch is; of several that with the fewest merged entries.
static std::optional<View> withBatch(const BatchLayout &layout, const Target &target,
                                     BatchSpan span) {
  const bool isComputed = llvm::is_contained(target.fromBatch, true);
  // A literal of a file with an open batch is what it says, and then only of one sample's.
  const std::int64_t written =
      isComputed || layout.isAsExported() ? layout.batch : layout.exported.value_or(0);
  std::optional<View> best;
  for (std::size_t c = 0; c < target.entries.size(); ++c) {
    const std::int64_t entry = target.entries[c];
    // A literal that is all of a sample says nothing of others.
    const bool isSample = !isComputed && entry > 1 && entry == span.before * span.after;
    const bool divides = written > 0 && entry > 0 && entry % written == 0 && !isSample;
    if (isComputed ? !target.fromBatch[c] || !divides : entry != -1 && !divides)
      continue;
    const auto view = carriedBy(target, c, entry == -1 ? 0 : entry / written, span, layout.batch);
    if (view && (!best || view->place->factor() < best->place->factor()))
      best = view;
  }
  // What depends on the batch twice does not fit another one.
  return llvm::count(target.fromBatch, true) > 1 ? std::nullopt : best;
}

static LogicalResult refuse(NodeImport &node, nn::DimsRef x, const Target &target) {
  const BatchLayout &layout = node.state.values.layout;
  const std::string what =
      "cannot reshape " + nn::toString(x) + " to " + nn::toString(target.entries);
  if (llvm::is_contained(target.fromBatch, true))
    return node.error(what + ": samples of the batch would mix");
  return node.error(what + layout.exportHint(/*isOpen=*/true));
}

FailureOr<View> frontend::reshapeView(NodeImport &node, nn::DimsRef x, BatchLayout::Place place) {
  SYNCLINE_TRY_MLIR(target, readTarget(node, x, place));
  const BatchLayout &layout = node.state.values.layout;
  if (place)
    if (std::optional<View> view = withBatch(layout, *target, spanOf(x, *place)))
      return *view;
  if (place && !layout.isAsExported())
    return refuse(node, x, *target);
  View view{target->entries, {}};
  std::int64_t known = 1;
  const std::optional<std::size_t> open = target->open();
  for (std::size_t i = 0; i < view.dims.size(); ++i)
    known *= i == open ? 1 : view.dims[i];
  if (open)
    view.dims[*open] = known > 0 ? nn::elementCount(x) / known : 0;
  if (nn::elementCount(view.dims) != nn::elementCount(x))
    return refuse(node, x, *target);
  return view;
}
