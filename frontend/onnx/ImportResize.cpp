// Resize and Upsample.
#include "frontend/onnx/Fraction.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

#include "syncline/ResampleFilter.h"

#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

#include <cmath>
#include <numeric>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// How many elements a resized dimension may have.
constexpr std::int64_t mostElements = std::int64_t(1) << 24;

struct Method {
  ResampleFilter filter;
  std::string coordinates; ///< coordinate_transformation_mode
  double cubicCoefficient;
  bool excludesOutside, antialias;
};

/// A resized dimension. `scale` is the one of the coordinates.
struct Resized {
  std::int64_t axis, size;
  Fraction scale;
};

} // namespace

/// Before opset 11 only scales are given, and coordinates are their multiples.
static bool isFormer(const NodeImport &node) {
  return node.op() == "Upsample" || node.opset() < 11;
}

static FailureOr<ResampleFilter> filterOf(NodeImport &node) {
  const std::string mode = node.text("mode", "nearest");
  if (mode == "linear")
    return ResampleFilter::linear;
  if (mode == "cubic" && !isFormer(node))
    return ResampleFilter::cubic;
  if (mode != "nearest")
    return node.error("expected mode 'nearest'" +
                      llvm::Twine(isFormer(node) ? " or 'linear'" : ", 'linear' or 'cubic'") +
                      ", got '" + mode + "'");
  const std::string nearest =
      isFormer(node) ? "floor" : node.text("nearest_mode", "round_prefer_floor");
  const auto filter = llvm::StringSwitch<std::optional<ResampleFilter>>(nearest)
                          .Case("round_prefer_floor", ResampleFilter::nearestPreferFloor)
                          .Case("round_prefer_ceil", ResampleFilter::nearestPreferCeil)
                          .Case("floor", ResampleFilter::nearestFloor)
                          .Case("ceil", ResampleFilter::nearestCeil)
                          .Default(std::nullopt);
  if (!filter)
    return node.error("expected nearest_mode 'round_prefer_floor', 'round_prefer_ceil', 'floor' or "
                      "'ceil', got '" +
                      nearest + "'");
  return *filter;
}

static FailureOr<Method> methodOf(NodeImport &node) {
  SYNCLINE_TRY_MLIR(filter, filterOf(node));
  Method method{*filter, "asymmetric", 0, false, false};
  if (isFormer(node))
    return method;
  method.coordinates = node.text("coordinate_transformation_mode", "half_pixel");
  if (method.coordinates == "tf_crop_and_resize" || method.coordinates == "tf_half_pixel_for_nn")
    return node.error("coordinate_transformation_mode '" + method.coordinates +
                      "' is not supported");
  if (!llvm::is_contained({"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                           "half_pixel_symmetric"},
                          method.coordinates))
    return node.error("expected coordinate_transformation_mode 'half_pixel', "
                      "'pytorch_half_pixel', 'align_corners', 'asymmetric' or "
                      "'half_pixel_symmetric', got '" +
                      method.coordinates + "'");
  if (method.filter == ResampleFilter::cubic) {
    method.cubicCoefficient = node.real("cubic_coeff_a", -0.75);
    if (!std::isfinite(method.cubicCoefficient))
      return node.error("expected a finite cubic_coeff_a");
  }
  const bool isNearest = method.filter < ResampleFilter::linear;
  method.excludesOutside = !isNearest && node.integer("exclude_outside", 0) != 0;
  method.antialias = node.integer("antialias", 0) != 0;
  if (method.antialias && (isNearest || method.coordinates == "align_corners"))
    return node.error(isNearest ? "antialias is not supported with mode 'nearest'"
                                : "antialias is not supported with 'align_corners'");
  return method;
}

/// The scales as the file has them; empty where operand `i` is absent or has no elements.
static FailureOr<llvm::SmallVector<float>> scalesOf(NodeImport &node, unsigned i) {
  llvm::SmallVector<float> scales;
  if (node.op() == "Upsample" && node.opset() < 9) {
    if (const onnx::AttributeProto *attribute = node.attribute("scales"))
      scales.assign(attribute->floats().begin(), attribute->floats().end());
    return scales;
  }
  if (!node.hasInput(i))
    return scales;
  const ConstantTensor *values = node.constant(i);
  if (!values || !(values->isReal() || values->size() == 0) || values->dims.size() != 1)
    return node.error("expected a list of constant numbers as scales, got '" + node.inputName(i) +
                      "'");
  for (const double value : values->reals)
    scales.push_back(static_cast<float>(value));
  return scales;
}

/// The axes that the node names, in its order; all where it names none.
static FailureOr<nn::Dims> namedAxes(NodeImport &node, std::size_t rank) {
  std::optional<nn::Dims> named = node.integers("axes");
  nn::Dims axes;
  if (!named)
    for (std::size_t i = 0; i < rank; ++i)
      axes.push_back(static_cast<std::int64_t>(i));
  else if (failed(node.axes(*named, rank)))
    return failure();
  for (std::int64_t axis : named.value_or(nn::Dims()))
    axes.push_back(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  return axes;
}

static LogicalResult tooLarge(NodeImport &node, std::int64_t axis, const llvm::Twine &size) {
  return node.error("dimension " + llvm::Twine(axis) + " would have " + size +
                    " elements, expected 1 to " + llvm::Twine(mostElements));
}

static FailureOr<Resized> byScale(NodeImport &node, std::int64_t axis, std::int64_t from,
                                  float scale) {
  if (!(scale > 0) || !std::isfinite(scale))
    return node.error("expected scales above 0, got " + decimal(scale));
  if (scale == 1)
    return Resized{axis, from, {}};
  const double size = std::floor(static_cast<double>(from) * scale);
  if (!(size < 2 * static_cast<double>(mostElements)) || from > mostElements)
    return tooLarge(node, axis, decimal(std::max(size, static_cast<double>(from))));
  if (size == 0 && from * static_cast<double>(scale) < 0.5)
    return tooLarge(node, axis, "0");
  const Fraction fraction = fractionOf(scale);
  const std::int64_t to = from * fraction.above / fraction.below;
  if (to < 1 || to > mostElements)
    return tooLarge(node, axis, llvm::Twine(to));
  // Exporters divide sizes in 32 bits.
  const bool isQuotient = static_cast<float>(to) / static_cast<float>(from) == scale;
  return Resized{axis, to, isQuotient ? reduced({to, from}) : fraction};
}

static LogicalResult checkSize(NodeImport &node, std::int64_t axis, std::int64_t from,
                               std::int64_t to) {
  if (to < 1 || to > mostElements || from > mostElements)
    return from == to ? success() : tooLarge(node, axis, llvm::Twine(to));
  return success();
}

/// Has all axes follow one scale, by keep_aspect_ratio_policy.
static LogicalResult keepAspectRatio(NodeImport &node, nn::DimsRef x,
                                     llvm::MutableArrayRef<Resized> all) {
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    return success();
  if (policy != "not_larger" && policy != "not_smaller")
    return node.error("expected keep_aspect_ratio_policy 'stretch', 'not_larger' or 'not_smaller', "
                      "got '" +
                      policy + "'");
  Fraction one = all.front().scale;
  for (const Resized &each : all)
    if (policy == "not_larger" ? isLess(each.scale, one) : isLess(one, each.scale))
      one = each.scale;
  for (Resized &each : all) { // a half is rounded up
    const std::int64_t size = x[each.axis];
    if (size > mostElements)
      return tooLarge(node, each.axis, llvm::Twine(size));
    each = {each.axis, (2 * size * one.above + one.below) / (2 * one.below), one};
    if (failed(checkSize(node, each.axis, size, each.size)))
      return failure();
  }
  return success();
}

/// The entry of the sizes that states the exported batch is bound to the batch, where x has it.
static void bindSizes(const BatchLayout &layout, nn::DimsRef x, BatchLayout::Place place,
                      nn::DimsRef axes, nn::Dims &sizes) {
  if (!place || !layout.exported)
    return;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes))
    if (axis == place->dim && size == place->factor() * *layout.exported)
      size = x[axis];
}

static FailureOr<llvm::SmallVector<Resized>> bySizes(NodeImport &node, Value x, nn::DimsRef axes,
                                                     unsigned i) {
  std::optional<nn::Dims> sizes = node.list("sizes", i);
  if (!sizes)
    return failure();
  if (sizes->size() != axes.size())
    return node.error("expected a size for each of " + llvm::Twine(axes.size()) +
                      " dimensions, got " + llvm::Twine(sizes->size()));
  const BatchLayout::Place place = node.state.values.layout.of(x);
  node.readsOtherBatch = true;
  const std::optional<nn::Dims> others = node.list("sizes", i);
  node.readsOtherBatch = false;
  for (std::size_t d = 0; others && d < axes.size(); ++d)
    if ((*sizes)[d] != (*others)[d] && !(place && place->dim == axes[d]))
      return node.error("the size of dimension " + llvm::Twine(axes[d]) + " depends on the batch");
  bindSizes(node.state.values.layout, shapeOf(x), place, axes, *sizes);
  llvm::SmallVector<Resized> all;
  for (auto [axis, size] : llvm::zip_equal(axes, *sizes)) {
    if (failed(checkSize(node, axis, shapeOf(x)[axis], size)))
      return failure();
    all.push_back({axis, size, reduced({size, shapeOf(x)[axis]})});
  }
  if (failed(keepAspectRatio(node, shapeOf(x), all)))
    return failure();
  return all;
}

/// The dimensions that the node names, with their new sizes.
static FailureOr<llvm::SmallVector<Resized>> resizedOf(NodeImport &node, Value x) {
  const bool former = isFormer(node);
  SYNCLINE_TRY_MLIR(axes, namedAxes(node, shapeOf(x).size()));
  SYNCLINE_TRY_MLIR(scales, scalesOf(node, former ? 1 : 2));
  const unsigned sizes = 3;
  const ConstantTensor *known = node.hasInput(sizes) ? node.constant(sizes) : nullptr;
  const bool hasSizes = !former && node.hasInput(sizes) && !(known && known->size() == 0);
  if (hasSizes == !scales->empty())
    return node.error("expected " + llvm::Twine(former ? "scales" : "scales or sizes") +
                      (hasSizes ? ", got both" : ", got none"));
  if (hasSizes)
    return bySizes(node, x, *axes, sizes);
  if (scales->size() != axes->size())
    return node.error("expected a scale for each of " + llvm::Twine(axes->size()) +
                      " dimensions, got " + llvm::Twine(scales->size()));
  llvm::SmallVector<Resized> all;
  for (auto [axis, scale] : llvm::zip_equal(*axes, *scales)) {
    SYNCLINE_TRY_MLIR(one, byScale(node, axis, shapeOf(x)[axis], scale));
    all.push_back(*one);
  }
  return all;
}

/// The numbers a, b and c of nn.resample: element i of the result lies at (a·i + b)/c of x.
static std::array<std::int64_t, 3> coordinates(const Method &method, std::int64_t from,
                                               const Resized &to) {
  const std::int64_t p = to.scale.above, q = to.scale.below;
  std::array<std::int64_t, 3> abc{2 * q, q - p, 2 * p}; // half a pixel
  if (method.coordinates == "asymmetric")
    abc = {q, 0, p};
  else if (method.coordinates == "align_corners")
    abc = to.size == 1 ? std::array<std::int64_t, 3>{0, 0, 1}
                       : std::array<std::int64_t, 3>{from - 1, 0, to.size - 1};
  else if (method.coordinates == "half_pixel_symmetric")
    abc = {2 * q, q - to.size * q + (from - 1) * p, 2 * p};
  else if (method.coordinates == "pytorch_half_pixel" && to.size == 1 && !method.antialias)
    abc = {0, 0, 1}; // PyTorch's antialiasing has no such exception
  const std::int64_t common = std::gcd(std::gcd(abc[0], abc[1]), abc[2]);
  for (std::int64_t &each : abc)
    each /= common;
  return abc;
}

/// nn.resample of the dimensions that change; x itself where none does.
static FailureOr<Value> createResample(NodeImport &node, Value x, const Method &method,
                                       llvm::SmallVector<Resized> all) {
  llvm::sort(all, [](const Resized &a, const Resized &b) { return a.axis < b.axis; });
  nn::Dims dims(shapeOf(x)), axes, numbers;
  for (const Resized &each : all) {
    const std::int64_t from = shapeOf(x)[each.axis];
    const auto abc = coordinates(method, from, each);
    const bool isSame =
        from == each.size && (from == 1 || abc == std::array<std::int64_t, 3>{1, 0, 1});
    if (isSame)
      continue;
    const bool isFormerDown = isFormer(node) && each.size < from;
    if (isFormerDown && method.filter == ResampleFilter::nearestFloor)
      return node.error("mode 'nearest' to a smaller size is not defined before opset 11");
    dims[each.axis] = each.size;
    axes.push_back(each.axis);
    numbers.append(abc.begin(), abc.end());
  }
  SYNCLINE_TRY_MLIR(type, node.type(dims, x));
  if (axes.empty())
    return x;
  if (axes.size() > 3)
    return node.error("expected at most 3 resized dimensions, got " + llvm::Twine(axes.size()));
  return node
      .create<nn::ResampleOp>(*type, x, axes, numbers, static_cast<std::uint64_t>(method.filter),
                              llvm::APFloat(method.cubicCoefficient), method.excludesOutside,
                              method.antialias)
      .getY();
}

static LogicalResult importResize(NodeImport &node) {
  Value x = node.tensor(0);
  SYNCLINE_TRY_MLIR(method, methodOf(node));
  SYNCLINE_TRY_MLIR(all, resizedOf(node, x));
  FailureOr<Value> y = createResample(node, x, *method, *all);
  if (failed(y))
    return failure();
  return *y == x ? node.defineAlias() : node.define(*y);
}

OpRows frontend::resizeOps() {
  static constexpr OpRow rows[] = {
      {"Resize", {importResize, 1, 1}},
      {"Upsample", {importResize, 1, 1}},
  };
  return rows;
}
