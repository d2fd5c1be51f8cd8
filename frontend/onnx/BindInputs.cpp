// Fixes the inputs' dimensions.
#include "frontend/onnx/BindInputs.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/TensorData.h"

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

/// Whether the file calls the dimension the batch.
static bool isNamedBatch(const Dimension &dimension) {
  return llvm::StringRef(dimension.dim_param()).starts_with_insensitive("batch");
}

/// Constants may have these elements, tensors of a step may not.
static bool isOfConstantsAlone(Type element) {
  return element.isInteger(16) || element.isUnsignedInteger(32) || element.isUnsignedInteger(64);
}

namespace {

class Binder {
public:
  Binder(const ImportOptions &options, Notes &notes, MLIRContext &context)
      : options(options), notes(notes), context(context) {
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
    SYNCLINE_TRY_GET(place, batchDimension(input.name(), tensor.shape()));
    nn::Dims dims;
    for (int i = 0; i < tensor.shape().dim_size(); ++i) {
      const Dimension &dimension = tensor.shape().dim(i);
      Result<std::int64_t> size =
          i == *place ? batchOf(dimension, i, isFirst) : sizeOf(dimension, i);
      if (!size)
        return Status::badInput(name + size.status().message());
      dims.push_back(*size);
    }
    if (!isSaneShape(dims, 1))
      return Status::badInput(name + "its shape " + nn::toString(dims) + " is empty or too large");
    if (isFirst)
      bound.batch = dims[*place];
    if (*place < static_cast<int>(dims.size()))
      noteBatch(input.name(), tensor.shape().dim(*place), *place, dims[*place]);
    bound.types.push_back(RankedTensorType::get(dims, element));
    bound.batchDimensions.push_back(*place);
    return Status::ok();
  }

  /// Refuses a fixed batch that the output's first dimension contradicts, as where time is first.
  Status checkOutput(const onnx::ValueInfoProto &input, const onnx::ValueInfoProto &output) const {
    const auto &shape = output.type().tensor_type().shape();
    const bool isGiven = options.batchDimensions.count(input.name()) != 0;
    if (isGiven || !bound.exportedBatch || *bound.exportedBatch == bound.batch ||
        shape.dim_size() == 0 || !isFixed(shape.dim(0)) ||
        shape.dim(0).dim_value() % *bound.exportedBatch == 0)
      return Status::ok();
    return Status::badInput("input '" + input.name() + "': its first dimension has " +
                            std::to_string(*bound.exportedBatch) +
                            " entries and that of the output '" + output.name() + "' " +
                            std::to_string(shape.dim(0).dim_value()) + "; --batch-dimension " +
                            input.name() + "=D says which dimension is the batch, from 0");
  }

  /// Refuses options that name no input or dimension.
  Status checkNames() const {
    for (const auto &[name, size] : options.dimensions)
      if (!used.count(name))
        return Status::badInput("no input has a dimension '" + name + "'");
    for (const auto &[name, dimension] : options.batchDimensions)
      if (!withBatch.count(name))
        return Status::badInput("--batch-dimension " + name + "=" + std::to_string(dimension) +
                                ": no input that the output needs has this name");
    return Status::ok();
  }

  BoundInputs finish() { return std::move(bound); }

private:
  /// The dimension that the user gives, or else the first, unless the file calls a later one so.
  Result<int> batchDimension(const std::string &input, const onnx::TensorShapeProto &shape) {
    const auto given = options.batchDimensions.find(input);
    if (given != options.batchDimensions.end()) {
      withBatch.insert(input);
      if (given->second >= shape.dim_size())
        return Status::badInput("--batch-dimension " + input + "=" + std::to_string(given->second) +
                                ": the input has " + std::to_string(shape.dim_size()) +
                                " dimensions");
      return static_cast<int>(given->second);
    }
    const auto called = llvm::find_if(shape.dim(), isNamedBatch);
    return called == shape.dim().end() ? 0 : static_cast<int>(called - shape.dim().begin());
  }

  void noteBatch(const std::string &input, const Dimension &dimension, int i, std::int64_t size) {
    if (options.batchDimensions.count(input))
      return;
    const std::string place = "its dimension " + std::to_string(i);
    if (isFixed(dimension) && dimension.dim_value() != size)
      notes.add(place + ", of " + std::to_string(dimension.dim_value()) +
                    " in the file, is the batch, now of " + std::to_string(size) +
                    "; --batch-dimension NAME=D takes another",
                input);
    else if (i > 0)
      notes.add(place + ", '" + dimension.dim_param() + "', is the batch", input);
  }

  Result<std::int64_t> sizeOf(const Dimension &dimension, int i) {
    if (isFixed(dimension))
      return dimension.dim_value();
    if (std::optional<std::int64_t> size = named(dimension))
      return *size;
    const std::string &symbol = dimension.dim_param();
    return Status::badInput(dimensionText(dimension, i) +
                            " is not fixed; only the first, the batch, "
                            "may be" +
                            (symbol.empty() ? "" : ", or give it by --dim " + symbol + "=N"));
  }

  Result<std::int64_t> batchOf(const Dimension &dimension, int i, bool isFirst) {
    return isFirst ? firstBatch(dimension, i) : laterBatch(dimension);
  }

  /// Inputs whose first dimension is fixed at another size than the first input's have no batch.
  Result<std::int64_t> laterBatch(const Dimension &dimension) {
    if (isFixed(dimension))
      return options.batch && dimension.dim_value() == bound.exportedBatch ? *options.batch
                                                                           : dimension.dim_value();
    return named(dimension).value_or(bound.batch);
  }

  Result<std::int64_t> firstBatch(const Dimension &dimension, int i) {
    if (isFixed(dimension))
      bound.exportedBatch = dimension.dim_value();
    std::optional<std::int64_t> size = options.batch;
    if (!size)
      size = isFixed(dimension) ? bound.exportedBatch : named(dimension);
    if (!size)
      return Status::badInput("its batch, " + dimensionText(dimension, i) +
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
  Notes &notes;
  MLIRContext &context;
  BoundInputs bound;
  std::set<std::string> used;      ///< names that stand in an input
  std::set<std::string> withBatch; ///< inputs whose batch dimension the user gives
};

} // namespace

Result<BoundInputs> frontend::bindInputs(const GraphIndex &index, const ImportOptions &options,
                                         Notes &notes, MLIRContext &context) {
  Binder binder(options, notes, context);
  for (const onnx::ValueInfoProto *input : index.inputs)
    SYNCLINE_TRY(binder.bind(*input));
  SYNCLINE_TRY(binder.checkNames());
  for (const LossOutput &output : index.outputs)
    if (!index.inputs.empty())
      SYNCLINE_TRY(binder.checkOutput(*index.inputs.front(), *output.value));
  return binder.finish();
}
