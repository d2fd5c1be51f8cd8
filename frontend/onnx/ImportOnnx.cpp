// Reads a model, imports its nodes in order, attaches the loss, lays out the weights.
#include "frontend/onnx/ImportOnnx.h"
#include "frontend/onnx/AttachLoss.h"
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Skeleton.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// The graph input as this step sees it.
struct BoundInput {
  RankedTensorType type;
  std::int64_t batch;
  std::optional<std::int64_t> exportedBatch;
};

static std::string dimensionText(const onnx::TensorShapeProto::Dimension &dimension, int i) {
  std::string text = "dimension " + std::to_string(i);
  return dimension.dim_param().empty() ? text : text + " ('" + dimension.dim_param() + "')";
}

/// Binds the first dimension to the batch; all others must be fixed.
static Result<BoundInput> bindInput(const onnx::ValueInfoProto &input, const ImportOptions &options,
                                    MLIRContext &context) {
  std::string name = "input '" + input.name() + "': ";
  if (!input.type().has_tensor_type())
    return Status::badInput(name + "expected a tensor");
  const onnx::TypeProto::Tensor &tensor = input.type().tensor_type();
  Type element = elementType(tensor.elem_type(), &context);
  if (!element)
    return Status::badInput(name + elementName(tensor.elem_type()) + " is not supported");
  if (!tensor.has_shape() || tensor.shape().dim_size() == 0)
    return Status::badInput(name + "expected a shape whose first dimension is the batch");
  BoundInput bound;
  nn::Dims dims;
  for (int i = 0; i < tensor.shape().dim_size(); ++i) {
    const auto &dimension = tensor.shape().dim(i);
    bool isFixed = dimension.has_dim_value() && dimension.dim_value() > 0;
    if (isFixed && i == 0)
      bound.exportedBatch = dimension.dim_value();
    if (i == 0 && options.batch)
      dims.push_back(*options.batch);
    else if (isFixed)
      dims.push_back(dimension.dim_value());
    else if (i == 0)
      return Status::badInput(name + "its batch, " + dimensionText(dimension, i) +
                              ", is not fixed in the file and none was given");
    else
      return Status::badInput(name + dimensionText(dimension, i) +
                              " is not fixed; only the first, the batch, may be");
  }
  if (!isSaneShape(dims, 1))
    return Status::badInput(name + "its shape " + nn::toString(dims) + " is empty or too large");
  bound.type = RankedTensorType::get(dims, element);
  bound.batch = dims[0];
  return bound;
}

static void noteOutputs(const onnx::GraphProto &graph, const GraphIndex &index,
                        const ImportOptions &options, std::vector<std::string> &notes) {
  if (graph.output_size() > 1 && options.output.empty())
    notes.push_back("the model has " + std::to_string(graph.output_size()) +
                    " outputs; the loss is on the first, '" + index.output->name() + "'");
}

/// Removes what was built only for its shape or was folded into something else.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

static Status importNodes(ImportState &state) {
  const onnx::GraphProto &graph = state.file.model->graph();
  for (int i : state.index.order) {
    NodeImport node(state, graph.node(i), state.index.layers[i]);
    if (succeeded(importNode(node)))
      continue;
    if (state.values.status) // an importer failed without a reason
      return Status::error(ErrorKind::internal, node.describe() + ": import failed");
    return state.values.status;
  }
  return Status::ok();
}

static Result<Value> findOutput(ImportState &state) {
  const std::string &name = state.index.output->name();
  Value output = state.values.tensor(name);
  if (!state.values.status)
    return state.values.status;
  if (!output || !state.values.isBatched(name))
    return Status::badInput("output '" + name + "' does not depend on the input");
  return output;
}

/// MLIR's complaint as one message; such a complaint is our fault: nodes are checked as they come.
static Status verifyModule(ModuleOp module) {
  std::string message;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  if (succeeded(verify(module)))
    return Status::ok();
  return Status::error(ErrorKind::internal, "the imported step is not valid: " + message);
}

/// Everything but the file's name in messages.
static Result<ImportedModel> importModel(ModelFile &file, const ImportOptions &options,
                                         MLIRContext &context) {
  ImportedModel result;
  Result<GraphIndex> index = indexGraph(file, options.output);
  if (!index)
    return index.status();
  noteOutputs(file.model->graph(), *index, options, result.notes);
  Result<BoundInput> input = bindInput(*index->input, options, context);
  if (!input)
    return input.status();

  result.module = ModuleOp::create(NameLoc::get(StringAttr::get(&context, file.stem)));
  OpBuilder builder = OpBuilder::atBlockEnd(result.module->getBody());
  auto step = builder.create<nn::StepOp>(result.module->getLoc(), file.stem, input->batch);
  Block &block = step.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  const std::string &inputName = index->input->name();
  Value x = builder.create<nn::InputOp>(NameLoc::get(builder.getStringAttr(inputName)), input->type,
                                        inputName);
  StoredTensors stored(block, &context);
  if (Status status = stored.freeze(options.freeze); !status)
    return status;
  GraphValues values(file, *index, builder, stored, result.notes);
  values.setTensor(inputName, x, /*isBatched=*/true);
  ImportState state{file,   *index,       options,      builder,
                    values, result.notes, input->batch, input->exportedBatch};

  if (Status status = importNodes(state); !status)
    return status;
  Result<Value> output = findOutput(state);
  if (!output)
    return output.status();
  if (Status status = attachLoss(state, *output, index->output->name()); !status)
    return status;
  eraseDead(block);
  Result<std::vector<std::string>> names = stored.finish(result.weights);
  if (!names)
    return names.status();
  if (Status status = verifyModule(*result.module); !status)
    return status;
  result.skeleton = makeSkeleton(file, *names, result.weights);
  return result;
}

Result<ImportedModel> syncline::importOnnx(const std::string &path, const ImportOptions &options,
                                           MLIRContext &context) {
  if (options.batch && *options.batch < 1)
    return Status::badInput("expected a batch of at least 1, got " +
                            std::to_string(*options.batch));
  context.loadDialect<nn::NNDialect>();
  Result<ModelFile> file = readModelFile(path);
  if (!file)
    return file.status();
  Result<ImportedModel> result = importModel(*file, options, context);
  if (result)
    return result;
  std::string message = "'" + path + "': " + result.status().message();
  for (char &c : message) // names come from the file and may hold anything
    if (llvm::isASCII(c) && !llvm::isPrint(c))
      c = '?';
  return Status::error(result.status().kind(), message);
}
