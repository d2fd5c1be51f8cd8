// Begins an import.
#include "frontend/onnx/ImportGraph.h"

#include "frontend/onnx/BatchStatistics.h"
#include "frontend/onnx/Buffers.h"
#include "frontend/onnx/Contradictions.h"
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/EqualTensors.h"
#include "frontend/onnx/InferenceExport.h"
#include "frontend/onnx/ListedParameters.h"
#include "syncline/Printable.h"

#include "llvm/ADT/StringExtras.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

std::string frontend::printable(const std::string &text) { return syncline::printable(text); }

static void noteOutputs(const onnx::GraphProto &graph, const GraphIndex &index,
                        const ImportOptions &options, Notes &notes) {
  if (graph.output_size() > 1 && options.output.empty() && options.loss.hasTargets())
    notes.add("the model has " + std::to_string(graph.output_size()) +
              " outputs; the loss is on the first, '" + index.outputs.front().value->name() + "'");
}

Result<std::unique_ptr<ImportGraph>> ImportGraph::begin(ModelFile &file,
                                                        const ImportOptions &options,
                                                        Purpose purpose, MLIRContext &context) {
  std::unique_ptr<ImportGraph> graph(new ImportGraph());
  const bool hasTargets = options.loss.hasTargets();
  SYNCLINE_TRY_GET(index, indexGraph(file, hasTargets ? LossOn{options.output}
                                                      : LossOn{options.loss.output, true}));
  graph->index = std::move(*index);
  SYNCLINE_TRY(refuseContradictions(file, graph->index, graph->notes));
  noteOutputs(file.model->graph(), graph->index, options, graph->notes);
  if (std::optional<std::string> note = noteInferenceExport(file, graph->index))
    graph->notes.add(*note);
  SYNCLINE_TRY_GET(bound, bindInputs(graph->index, options, graph->notes, context));
  graph->bound = std::move(*bound);

  graph->module = ModuleOp::create(NameLoc::get(StringAttr::get(&context, file.stem)));
  OpBuilder &builder = graph->builder.emplace(&context);
  builder.setInsertionPointToEnd(graph->module->getBody());
  auto step = builder.create<nn::StepOp>(graph->module->getLoc(), file.stem, graph->bound.batch);
  graph->block = &step.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(graph->block);
  StoredTensors &stored = graph->storedTensors.emplace(*graph->block, &context);
  SYNCLINE_TRY(stored.freeze(options.freeze));
  const bool plansLayers = purpose == Purpose::layers;
  if (options.parameters)
    SYNCLINE_TRY(findListed(file, *options.parameters, plansLayers, graph->index, graph->notes));
  SYNCLINE_TRY(findBuffers(file, graph->index, stored, graph->notes));
  SYNCLINE_TRY(findEqual(file, plansLayers, graph->index, stored, graph->notes));
  SYNCLINE_TRY(findBatchStatistics(file, graph->index, stored, graph->notes));
  GraphValues &values =
      graph->graphValues.emplace(file, graph->index, builder, stored, graph->notes,
                                 purpose == Purpose::step, options.shapesSuffice);
  values.layout = BatchLayout(graph->bound.batch, graph->bound.exportedBatch);
  values.layout.allowsTotals = !hasTargets;
  for (std::size_t i = 0; i < graph->index.inputs.size(); ++i)
    SYNCLINE_TRY(graph->addInput(i, purpose));
  graph->importState.emplace(ImportState{file, graph->index, options, builder, values, graph->notes,
                                         graph->bound.batch, graph->bound.exportedBatch,
                                         graph->bound.dimensions, purpose == Purpose::step});
  return graph;
}

/// Puts the input's dimensions into the order of the file, where the batch is not first in it.
static Value inFileOrder(OpBuilder &builder, nn::InputOp input, RankedTensorType type,
                         std::int64_t batchDimension) {
  nn::Dims order;
  for (std::int64_t d = 1; d < type.getRank(); ++d)
    order.push_back(d);
  order.insert(order.begin() + batchDimension, 0);
  auto moved = RankedTensorType::get(type.getShape(), elementOf(input));
  auto op = builder.create<nn::TransposeOp>(input.getLoc(), moved, input, order);
  op->setAttr(nn::layerAttr, input.getNameAttr());
  return op;
}

Status ImportGraph::addInput(std::size_t i, Purpose purpose) {
  const std::string &name = index.inputs[i]->name();
  RankedTensorType type = bound.types[i];
  const std::int64_t dimension = bound.batchDimensions[i];
  const bool hasBatch = dimension < type.getRank() && type.getDimSize(dimension) == bound.batch;
  const bool isStep = purpose == Purpose::step;
  if (std::string why = whyNotInStep(elementNumber(type.getElementType())); isStep && !why.empty())
    return Status::badInput("input '" + name + "': " + why);
  if (isStep && !hasBatch)
    return Status::badInput(
        "input '" + name + "': expected the batch, " + std::to_string(bound.batch) + ", as " +
        (dimension == 0 ? "first dimension" : "dimension " + std::to_string(dimension)) +
        ", got shape " + nn::toString(type.getShape()));
  // Numbers of rows, whatever their width in the file: samples are converted when they are read.
  const bool isWidened = isStep && type.getElementType().isSignlessInteger(32);
  const Type element = isWidened ? builder->getI64Type() : type.getElementType();
  // Samples are read one behind the other.
  const bool isMoved = isStep && dimension > 0;
  nn::Dims dims(type.getShape());
  if (isMoved)
    std::rotate(dims.begin(), dims.begin() + dimension, dims.begin() + dimension + 1);
  auto input = builder->create<nn::InputOp>(NameLoc::get(builder->getStringAttr(name)),
                                            RankedTensorType::get(dims, element),
                                            builder->getStringAttr(name), StringAttr());
  if (hasBatch)
    graphValues->layout.set(input, BatchPlace{isMoved ? 0 : dimension});
  Value x = isMoved ? inFileOrder(*builder, input, type, dimension) : Value(input);
  graphValues->setTensor(name, x, /*isBatched=*/true);
  return Status::ok();
}
