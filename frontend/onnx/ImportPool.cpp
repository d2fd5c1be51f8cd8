// MaxPool, AveragePool and their global forms.
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/WindowAttributes.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

static bool isZero(nn::DimsRef list) {
  return llvm::all_of(list, [](std::int64_t value) { return value == 0; });
}

/// The pooling's window without ceil_mode's extra pads, which go to `extra`.
static FailureOr<Window> readPool(NodeImport &node, nn::DimsRef x, nn::Dims &extra) {
  if (x.size() < 3)
    return node.error("expected x of rank 3 or more, got " + nn::toString(x));
  nn::DimsRef spatial = x.drop_front(2);
  std::optional<nn::Dims> kernel = node.integers("kernel_shape");
  if (!kernel || kernel->size() != spatial.size())
    return node.error("expected a kernel_shape with " + llvm::Twine(spatial.size()) + " entries");
  SYNCLINE_TRY_MLIR(window, readWindow(node, spatial, *kernel));
  for (size_t i = 0; i < spatial.size(); ++i) {
    std::int64_t extent = window->dilations[i] * ((*kernel)[i] - 1) + 1;
    if (window->padsBegin[i] >= extent || window->padsEnd[i] >= extent)
      return node.error(
          "pads " + llvm::Twine(window->padsBegin[i]) + " and " + llvm::Twine(window->padsEnd[i]) +
          " leave a window nothing but padding: the kernel covers " + llvm::Twine(extent));
  }
  extra = node.integer("ceil_mode", 0) ? ceilPads(*window, spatial) : nn::Dims(spatial.size(), 0);
  return window;
}

static void extend(Window &window, nn::DimsRef extra) {
  for (size_t i = 0; i < extra.size(); ++i)
    window.padsEnd[i] += extra[i];
}

static LogicalResult createMaxPool(NodeImport &node, Value x, const Window &window) {
  SYNCLINE_TRY_MLIR(type, node.type(nn::poolShape(shapeOf(x), window.ref()), x));
  auto bytes = IntegerType::get(x.getContext(), 8, IntegerType::Unsigned);
  auto workspace = RankedTensorType::get(type->getShape(), bytes);
  auto pool = node.create<nn::MaxPoolOp>(*type, workspace, x, window.kernel, window.strides,
                                         window.dilations, window.padsBegin, window.padsEnd);
  return node.define(pool.getY());
}

static LogicalResult createAveragePool(NodeImport &node, Value x, const Window &window,
                                       bool countPads) {
  SYNCLINE_TRY_MLIR(type, node.type(nn::poolShape(shapeOf(x), window.ref()), x));
  auto pool =
      node.create<nn::AveragePoolOp>(*type, x, window.kernel, window.strides, window.dilations,
                                     window.padsBegin, window.padsEnd, countPads);
  return node.define(pool.getY());
}

static LogicalResult importMaxPool(NodeImport &node) {
  if (node.isUsed(1))
    return node.error("the indices of maxima are not supported as a result");
  nn::Dims extra;
  SYNCLINE_TRY_MLIR(window, readPool(node, node.dims(0), extra));
  extend(*window, extra);
  return createMaxPool(node, node.tensor(0), *window);
}

static LogicalResult importAveragePool(NodeImport &node) {
  Value x = node.tensor(0);
  nn::Dims extra;
  SYNCLINE_TRY_MLIR(window, readPool(node, shapeOf(x), extra));
  bool countPads = node.integer("count_include_pad", 0) != 0;
  if (isZero(window->padsBegin) && isZero(window->padsEnd))
    countPads = false; // nothing to count
  if (countPads && !isZero(extra)) {
    // Declared pads count and ceil_mode's do not: the first become an explicit nn.pad.
    nn::Dims begins{0, 0}, dims(shapeOf(x));
    for (size_t i = 0; i < extra.size(); ++i) {
      begins.push_back(window->padsBegin[i]);
      dims[i + 2] += window->padsBegin[i] + window->padsEnd[i];
      window->padsBegin[i] = window->padsEnd[i] = 0;
    }
    SYNCLINE_TRY_MLIR(type, node.type(dims, x));
    x = node.create<nn::PadOp>(*type, x, begins, llvm::APFloat(0.0));
    countPads = false;
  }
  extend(*window, extra);
  return createAveragePool(node, x, *window, countPads);
}

static LogicalResult importGlobalPool(NodeImport &node) {
  Value x = node.tensor(0);
  if (shapeOf(x).size() < 3)
    return node.error("expected x of rank 3 or more, got " + nn::toString(shapeOf(x)));
  Window window;
  nn::DimsRef spatial = shapeOf(x).drop_front(2);
  window.kernel.assign(spatial.begin(), spatial.end());
  window.strides = window.dilations = nn::Dims(spatial.size(), 1);
  window.padsBegin = window.padsEnd = nn::Dims(spatial.size(), 0);
  if (node.op() == "GlobalMaxPool")
    return createMaxPool(node, x, window);
  return createAveragePool(node, x, window, false);
}

OpRows frontend::poolOps() {
  static constexpr OpRow rows[] = {
      {"AveragePool", {importAveragePool, 1, 1}},
      {"GlobalAveragePool", {importGlobalPool, 1, 1}},
      {"GlobalMaxPool", {importGlobalPool, 1, 1}},
      {"MaxPool", {importMaxPool, 1, 1}},
  };
  return rows;
}
