// Begins an import.
#include "frontend/onnx/ImportGraph.h"

#include "frontend/onnx/BatchStatistics.h"
#include "frontend/onnx/Buffers.h"
#include "frontend/onnx/Contradictions.h"
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/InferenceExport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

std::string frontend::printable(const std::string &text) {
  std::string result = llvm::json::fixUTF8(text);
  for (char &c : result)
    if (llvm::isASCII(c) && !llvm::isPrint(c))
      c = '?';
  return result;
}

static void noteOutputs(const onnx::GraphProto &graph, const GraphIndex &index,
                        const ImportOptions &options, Notes &notes) {
  if (graph.output_size() > 1 && options.output.empty())
    notes.add("the model has " + std::to_string(graph.output_size()) +
              " outputs; the loss is on the first, '" + index.output->name() + "'");
}

Result<std::unique_ptr<ImportGraph>> ImportGraph::begin(const ModelFile &file,
                                                        const ImportOptions &options,
                                                        Purpose purpose, MLIRContext &context) {
  std::unique_ptr<ImportGraph> graph(new ImportGraph());
  Result<GraphIndex> index = indexGraph(file, options.output);
  if (!index)
    return index.status();
  graph->index = std::move(*index);
  if (Status status = refuseContradictions(file, graph->index, graph->notes); !status)
    return status;
  noteOutputs(file.model->graph(), graph->index, options, graph->notes);
  if (std::optional<std::string> note = noteInferenceExport(file, graph->index))
    graph->notes.add(*note);
  Result<BoundInputs> bound = bindInputs(graph->index, options, context);
  if (!bound)
    return bound.status();
  graph->bound = std::move(*bound);

  graph->module = ModuleOp::create(NameLoc::get(StringAttr::get(&context, file.stem)));
  OpBuilder &builder = graph->builder.emplace(&context);
  builder.setInsertionPointToEnd(graph->module->getBody());
  auto step = builder.create<nn::StepOp>(graph->module->getLoc(), file.stem, graph->bound.batch);
  graph->block = &step.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(graph->block);
  StoredTensors &stored = graph->storedTensors.emplace(*graph->block, &context);
  if (Status status = stored.freeze(options.freeze); !status)
    return status;
  if (Status status = findBuffers(file, graph->index, stored, graph->notes); !status)
    return status;
  if (Status status = findBatchStatistics(file, graph->index, stored, graph->notes); !status)
    return status;
  GraphValues &values = graph->graphValues.emplace(file, graph->index, builder, stored,
                                                   graph->notes, purpose == Purpose::step);
  values.layout = BatchLayout(graph->bound.batch, graph->bound.exportedBatch);
  for (auto [input, type] : llvm::zip_equal(graph->index.inputs, graph->bound.types)) {
    // Numbers of rows, whatever their width in the file: samples are converted when they are read.
    const bool isStep = purpose == Purpose::step;
    if (std::string why = whyNotInStep(elementNumber(type.getElementType()));
        isStep && !why.empty())
      return Status::badInput("input '" + input->name() + "': " + why);
    if (isStep && (type.getRank() == 0 || type.getDimSize(0) != graph->bound.batch))
      return Status::badInput("input '" + input->name() + "': expected the batch, " +
                              std::to_string(graph->bound.batch) +
                              ", as first dimension, got shape " + nn::toString(type.getShape()));
    const bool isWidened = isStep && type.getElementType().isSignlessInteger(32);
    const auto own =
        isWidened ? RankedTensorType::get(type.getShape(), builder.getI64Type()) : type;
    Value x = builder.create<nn::InputOp>(NameLoc::get(builder.getStringAttr(input->name())), own,
                                          input->name());
    values.setTensor(input->name(), x, /*isBatched=*/true);
    if (own.getRank() > 0 && own.getDimSize(0) == graph->bound.batch)
      values.layout.set(x, BatchPlace());
  }
  graph->importState.emplace(ImportState{file, graph->index, options, builder, values, graph->notes,
                                         graph->bound.batch, graph->bound.exportedBatch,
                                         graph->bound.dimensions, purpose == Purpose::step});
  return graph;
}
