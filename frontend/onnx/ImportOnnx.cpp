// Reads a model, imports its nodes in order, attaches the loss, lays out the weights.
#include "frontend/onnx/ImportOnnx.h"
#include "frontend/onnx/AttachLoss.h"
#include "frontend/onnx/ImportGraph.h"
#include "frontend/onnx/ImportNodes.h"
#include "frontend/onnx/RecognizeLayerNorm.h"
#include "frontend/onnx/Skeleton.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Removes what was built only for its shape or was folded into something else.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
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

/// Imports the model; errors do not name the file yet.
static Result<ImportedModel> importModel(ModelFile &file, const ImportOptions &options,
                                         MLIRContext &context) {
  Result<std::unique_ptr<ImportGraph>> begun =
      ImportGraph::begin(file, options, Inputs::one, context);
  if (!begun)
    return begun.status();
  ImportGraph &graph = **begun;
  ImportState &state = graph.state();
  if (Status status = importNodes(state, Refused::areErrors); !status)
    return status;
  Result<Value> output = findOutput(state);
  if (!output)
    return output.status();
  if (Status status = attachLoss(state, *output, graph.index.output->name()); !status)
    return status;
  recognizeLayerNorms(*graph.block);
  eraseDead(*graph.block);
  ImportedModel result;
  Result<std::vector<std::string>> names = graph.stored().finish(result.weights);
  if (!names)
    return names.status();
  if (Status status = verifyModule(*graph.module); !status)
    return status;
  result.skeleton = makeSkeleton(file, *names, result.weights);
  result.module = std::move(graph.module);
  result.notes = graph.notes.lines();
  return result;
}

Result<ImportedModel> frontend::importOnnx(const std::string &path, const ImportOptions &options,
                                           MLIRContext &context) {
  context.loadDialect<nn::NNDialect>();
  return importNamed<ImportedModel>(
      path, options, [&](ModelFile &file) { return importModel(file, options, context); });
}
