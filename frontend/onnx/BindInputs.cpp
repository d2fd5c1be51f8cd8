// Fixes the inputs' dimensions.
#include "frontend/onnx/BindInputs.h"

#include "frontend/onnx/ElementType.h"

#include "onnx/onnx_pb.h"

#include <set>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Dimension = onnx::TensorShapeProto::Dimension;

static bool isFixed(const Dimension &dimension) {
  return dimension.has_dim_value() && dimension.dim_value() > 0;
}

static std::string dimensionText(const Dimension &dimension, int i) {
  std::string text = "dimension " + std::to_string(i);
  return dimension.dim_param().empty() ? text : text + " ('" + dimension.dim_param() + "')";
}

/// Constants may have these elements, tensors of a step may not.
static bool isOfConstantsAlone(Type element) {
  return element.isInteger(16) || element.isUnsignedInteger(32) || element.isUnsignedInteger(64);
}

namespace {

class Binder {
public:
  Binder(const ImportOptions &options, MLIRContext &context) : options(options), context(context) {
    bound.dimensions = options.dimensions;
  }

  Status bind(const onnx::ValueInfoProto &input) {
    const std::string name = "input '" + input.name() + "': ";
    if (!input.type().has_tensor_type())
      return Status::badInput(name + "expected a tensor");
    const onnx::TypeProto::Tensor &tensor = input.type().tensor_type();
    Type element = elementType(tensor.elem_type(), &context);
    if (!element || isOfConstantsAlone(element))
      return Status::badInput(name + elementName(tensor.elem_type()) + " is not supported");
    const bool isFirst = bound.types.empty();
    if (!tensor.has_shape() || (isFirst && tensor.shape().dim_size() == 0))
      return Status::badInput(name + "expected a shape whose first dimension is the batch");
    nn::Dims dims;
    for (int i = 0; i < tensor.shape().dim_size(); ++i) {
      Result<std::int64_t> size = sizeOf(tensor.shape().dim(i), i, isFirst);
      if (!size)
        return Status::badInput(name + size.status().message());
      dims.push_back(*size);
    }
    if (!isSaneShape(dims, 1))
      return Status::badInput(name + "its shape " + nn::toString(dims) + " is empty or too large");
    if (isFirst)
      bound.batch = dims[0];
    bound.types.push_back(RankedTensorType::get(dims, element));
    return Status::ok();
  }

  Result<BoundInputs> finish() {
    for (const auto &[name, size] : options.dimensions)
      if (!used.count(name))
        return Status::badInput("no input has a dimension '" + name + "'");
    return std::move(bound);
  }

private:
  Result<std::int64_t> sizeOf(const Dimension &dimension, int i, bool isFirst) {
    if (isFirst && i == 0)
      return batchOf(dimension);
    if (isFixed(dimension)) {
      const bool isBatch = i == 0 && options.batch && dimension.dim_value() == bound.exportedBatch;
      return isBatch ? *options.batch : dimension.dim_value();
    }
    if (std::optional<std::int64_t> size = named(dimension))
      return *size;
    if (i == 0 && !isFirst)
      return bound.batch;
    const std::string &symbol = dimension.dim_param();
    return Status::badInput(dimensionText(dimension, i) +
                            " is not fixed; only the first, the batch, "
                            "may be" +
                            (symbol.empty() ? "" : ", or give it by --dim " + symbol + "=N"));
  }

  Result<std::int64_t> batchOf(const Dimension &dimension) {
    if (isFixed(dimension))
      bound.exportedBatch = dimension.dim_value();
    std::optional<std::int64_t> size = options.batch;
    if (!size)
      size = isFixed(dimension) ? bound.exportedBatch : named(dimension);
    if (!size)
      return Status::badInput("its batch, " + dimensionText(dimension, 0) +
                              ", is not fixed in the file; give it by --batch");
    if (!isFixed(dimension) && !dimension.dim_param().empty())
      bound.dimensions.emplace(dimension.dim_param(), *size);
    return *size;
  }

  std::optional<std::int64_t> named(const Dimension &dimension) {
    auto place = bound.dimensions.find(dimension.dim_param());
    if (place == bound.dimensions.end())
      return std::nullopt;
    used.insert(place->first);
    return place->second;
  }

  const ImportOptions &options;
  MLIRContext &context;
  BoundInputs bound;
  std::set<std::string> used; ///< names that stand in an input
};

} // namespace

Result<BoundInputs> frontend::bindInputs(const GraphIndex &index, const ImportOptions &options,
                                         MLIRContext &context) {
  Binder binder(options, context);
  for (const onnx::ValueInfoProto *input : index.inputs)
    if (Status status = binder.bind(*input); !status)
      return status;
  return binder.finish();
}
