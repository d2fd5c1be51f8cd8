// Reads a model, imports its nodes in order, attaches the loss, lays out the weights.
#include "frontend/onnx/ImportOnnx.h"
#include "frontend/onnx/AttachLoss.h"
#include "frontend/onnx/ImportGraph.h"
#include "frontend/onnx/ImportNodes.h"
#include "frontend/onnx/ImportNoise.h"
#include "frontend/onnx/ModelLoss.h"
#include "frontend/onnx/NodeImport.h"
#include "frontend/onnx/RecognizeLayerNorm.h"
#include "frontend/onnx/Skeleton.h"
#include "frontend/onnx/StoreConstants.h"
#include "ir/nn/NN.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// Joins a tensor of integers with itself, in place of broadcasting it.
class Repeater {
public:
  explicit Repeater(nn::BroadcastOp all) : builder(all), all(all) {}

  /// The broadcast's result.
  Value repeated() {
    const nn::DimsRef to = shapeOf(all.getY());
    nn::Dims dims(to.size() - shapeOf(all.getX()).size(), 1);
    llvm::append_range(dims, shapeOf(all.getX()));
    Value x = all.getX();
    if (shapeOf(x) != nn::DimsRef(dims))
      x = create<nn::ReshapeOp>(dims, x);
    // Innermost dimensions first, so that fewer elements are joined more often.
    for (std::size_t d = to.size(); d-- > 0;)
      if (dims[d] != to[d])
        x = repeat(x, d, to[d]);
    return x;
  }

private:
  /// x, of extent 1 in the dimension, as often as `count` says: each join doubles it.
  Value repeat(Value x, std::size_t dimension, std::int64_t count) {
    nn::Dims dims(shapeOf(x));
    const nn::Dims starts(dims.size(), 0), steps(dims.size(), 1);
    for (std::int64_t size = 1; size < count;) {
      const std::int64_t more = std::min(size, count - size);
      Value other = x;
      dims[dimension] = more;
      if (more < size)
        other = create<nn::SliceOp>(dims, x, starts, steps);
      size += more;
      dims[dimension] = size;
      x = create<nn::ConcatOp>(dims, ValueRange{x, other}, dimension);
    }
    return x;
  }

  template <typename Op, typename... Args> Value create(nn::DimsRef dims, Args &&...args) {
    auto type = RankedTensorType::get(dims, elementOf(all.getX()));
    auto op = builder.create<Op>(all.getLoc(), type, std::forward<Args>(args)...);
    if (Attribute layer = all->getAttr(nn::layerAttr))
      op->setAttr(nn::layerAttr, layer);
    return op->getResult(0);
  }

  OpBuilder builder;
  nn::BroadcastOp all;
};

/// Makes nn.concat of each nn.broadcast of integers: kernels that broadcast compute with
/// floating-point elements alone.
void repeatIntegers(Block &block) {
  for (auto all : llvm::make_early_inc_range(block.getOps<nn::BroadcastOp>())) {
    if (isa<FloatType>(elementOf(all.getX())))
      continue;
    all.getY().replaceAllUsesWith(Repeater(all).repeated());
    all.erase();
  }
}

} // namespace

/// Removes what was built only for its shape or was folded into something else.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Moves dimension `dim` of x to the front. A softmax stays the last operation.
static Value withFirst(ImportState &state, Value x, std::int64_t dim) {
  nn::Dims order{dim}, dims{shapeOf(x)[dim]};
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(shapeOf(x).size()); ++d)
    if (d != dim) {
      order.push_back(d);
      dims.push_back(shapeOf(x)[d]);
    }
  const auto type = RankedTensorType::get(dims, elementOf(x));
  auto softmax = x.getDefiningOp<nn::SoftmaxOp>();
  auto moved =
      state.builder.create<nn::TransposeOp>(x.getLoc(), type, softmax ? softmax.getX() : x, order);
  if (Attribute layer = x.getDefiningOp()->getAttr(nn::layerAttr))
    moved->setAttr(nn::layerAttr, layer);
  if (!softmax)
    return moved;
  auto last = cast<nn::SoftmaxOp>(state.builder.clone(*softmax));
  last.getXMutable().assign(moved);
  last.getY().setType(type);
  last.setAxis(llvm::find(order, static_cast<std::int64_t>(softmax.getAxis())) - order.begin());
  return last.getY();
}

/// What is wrong with an output that has the batch there; empty where it can be moved to the front.
static std::string faultOfPlace(Value output, const BatchLayout::Place &place) {
  if (!place)
    return "none";
  if (place->factor() != 1)
    return "it in dimension " + std::to_string(place->dim) + ", merged with others of " +
           std::to_string(place->factor()) +
           " entries; end the model with a Reshape that parts them";
  auto reshape = output.getDefiningOp<nn::ReshapeOp>(); // of a softmax before opset 13
  const bool isHidden = place->dim > 0 && reshape && reshape.getX().getDefiningOp<nn::SoftmaxOp>();
  return isHidden ? "it in dimension " + std::to_string(place->dim) : "";
}

static Result<Value> findOutput(ImportState &state, const std::string &name) {
  Value output = state.values.tensor(name);
  if (!state.values.status)
    return state.values.status;
  if (!output || !state.values.isBatched(name))
    return Status::badInput("output '" + name + "' does not depend on the input");
  if (state.values.isWhole(name))
    return Status::badInput("output '" + name + "' is not floating-point");
  BatchLayout &layout = state.values.layout;
  const BatchLayout::Place place = layout.of(output);
  const std::string fault = faultOfPlace(output, place);
  if (!layout.isAsExported() && !fault.empty())
    return Status::badInput("output '" + name + "' of shape " + nn::toString(shapeOf(output)) +
                            ": expected the batch, " + std::to_string(state.batch) +
                            ", as first dimension, got " + fault);
  if (!fault.empty() || place->dim == 0)
    return output;
  const Value moved = withFirst(state, output, place->dim);
  state.notes.add("its dimension " + std::to_string(place->dim) +
                      " is the batch: samples come first in targets, as in " +
                      nn::toString(shapeOf(moved)),
                  name);
  return moved;
}

/// Takes the loss on the chosen outputs.
static Status attachLosses(ImportState &state) {
  std::vector<TrainedOutput> outputs;
  for (const LossOutput &output : state.index.outputs) {
    const std::string &name = output.value->name();
    SYNCLINE_TRY_GET(value, findOutput(state, name));
    outputs.push_back({*value, name, output.weight});
  }
  return attachLoss(state, outputs);
}

/// Drops inputs whose values nothing computes with any more, and gives inputs that hold an input's
/// integers its name where it is one of these. Returns the model's inputs that are left without.
static std::vector<std::string> dropInputs(Block &block, const GraphIndex &index) {
  llvm::StringSet<> kept;
  for (auto input : llvm::make_early_inc_range(block.getOps<nn::InputOp>()))
    if (input.use_empty())
      input.erase();
    else
      kept.insert(input.getName());
  llvm::StringSet<> sources;
  for (auto input : block.getOps<nn::InputOp>()) {
    const llvm::StringRef source = input.source();
    sources.insert(source);
    if (!kept.count(source))
      input.setName(source);
  }
  std::vector<std::string> unneeded = index.unneededInputs;
  for (const onnx::ValueInfoProto *input : index.inputs)
    if (!sources.count(input->name()))
      unneeded.push_back(input->name());
  return unneeded;
}

/// Verifies the module. An error here is the importer's fault, since nodes are checked on import.
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

static Inventory inventoryOf(const ModelFile &file, ImportGraph &graph) {
  Inventory inventory;
  std::vector<std::string> planned;
  for (auto parameter : graph.block->getOps<nn::ParameterOp>()) {
    planned.push_back(parameter.getName().str());
    const auto type = cast<RankedTensorType>(parameter.getResult().getType());
    inventory.add(type.getNumElements() * type.getElementTypeBitWidth() / 8);
  }
  findLeftOut(file, graph, planned, inventory);
  return inventory;
}

/// Imports the model; errors do not name the file yet.
static Result<ImportedModel> importModel(ModelFile &file, const ImportOptions &options,
                                         MLIRContext &context) {
  SYNCLINE_TRY_GET(begun, ImportGraph::begin(file, options, Purpose::step, context));
  ImportGraph &graph = **begun;
  ImportState &state = graph.state();
  SYNCLINE_TRY(importNodes(state, Refused::areErrors));
  if (options.loss.hasTargets())
    SYNCLINE_TRY(attachLosses(state));
  else
    SYNCLINE_TRY(attachModelLoss(state));
  recognizeLayerNorms(*graph.block);
  if (!options.dropout)
    replaceNoise(*graph.block);
  eraseDead(*graph.block);
  ImportedModel result;
  result.unneededInputs = dropInputs(*graph.block, graph.index);
  for (const std::string &input : result.unneededInputs)
    graph.notes.add("the output does not need this input", input);
  SYNCLINE_TRY_GET(names, graph.stored().finish(result.weights));
  storeLargeConstants(*graph.block, result.weights);
  repeatIntegers(*graph.block);
  SYNCLINE_TRY(verifyModule(*graph.module));
  result.inventory = inventoryOf(file, graph);
  SYNCLINE_TRY_GET(skeleton, options.shapesSuffice
                                 ? std::string()
                                 : makeSkeleton(file, graph.index, *names, result.weights));
  result.skeleton = std::move(*skeleton);
  if (options.shapesSuffice)
    result.weights = {}; // which may lack values
  result.module = std::move(graph.module);
  result.notes = graph.notes.lines();
  return result;
}

Result<ImportedModel> frontend::importOnnx(const std::string &path, const ImportOptions &options,
                                           MLIRContext &context) {
  context.loadDialect<nn::NNDialect>();
  return importNamed<ImportedModel>(path, options, Purpose::step, [&](ModelFile &file) {
    return importModel(file, options, context);
  });
}
