// Lowers the model again between the passes before and behind the planner.
#include "frontend/driver/CompareModel.h"

#include "codegen/step/Text.h"
#include "frontend/driver/Compile.h"
#include "frontend/driver/RecordedOptions.h"
#include "frontend/driver/StepTrace.h"
#include "frontend/files/LayerTrace.h"
#include "frontend/ir/TraceModule.h"
#include "frontend/onnx/ImportOnnx.h"
#include "ir/FirstOf.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Consistency.h"
#include "ir/sync/Disturbed.h"
#include "ir/sync/StepRange.h"
#include "ir/sync/Sync.h"
#include "passes/RunPipeline.h"
#include "syncline/RowsPart.h"

#include "mlir/IR/Builders.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <streambuf>
#include <vector>

using namespace mlir;

namespace syncline::driver {
namespace {

/// Compares what is written to it with a file.
class ComparingBuffer : public std::streambuf {
public:
  explicit ComparingBuffer(const std::string &path) : file(path, std::ios::binary) {}

  /// Whether the file holds just what was written.
  bool isEqual() { return equal && file.peek() == std::ifstream::traits_type::eof(); }

private:
  std::streamsize xsputn(const char *text, std::streamsize count) override {
    chunk.resize(static_cast<std::size_t>(count));
    equal = equal && file.read(chunk.data(), count) && std::equal(text, text + count, chunk.data());
    return count;
  }
  int_type overflow(int_type c) override {
    const char text = traits_type::to_char_type(c);
    xsputn(&text, 1);
    return c;
  }

  std::ifstream file;
  std::vector<char> chunk;
  bool equal = true;
};

/// The plan's own choices, as the pipeline takes them.
PipelineOptions pipelineOf(ModuleOp plan, const RecordedOptions &recorded) {
  PipelineOptions options;
  auto problem = firstOf<sync::ProblemOp>(plan);
  options.requested = recorded.schemes;
  options.consistency = sync::consistencyText(problem.getConsistencyAttr());
  options.splitTied = llvm::any_of(problem.getLayers().getAsValueRange<StringAttr>(),
                                   [](StringRef name) { return isRowsPart(name.str()); });
  if (problem.getTails())
    options.overlap = plan::overlapStep.str();
  auto program = firstOf<plan::ProgramOp>(plan);
  if (!program)
    return options;
  options.clipNorm = plan::clipNormOf(program).value_or(0);
  options.accumulate = plan::microBatchesOf(program);
  auto recomputed = program->getAttrOfType<DictionaryAttr>(nn::recomputationAttr);
  const IntegerAttr asked = recomputed ? nn::askedOf(recomputed) : IntegerAttr();
  if (asked)
    options.freeArena = asked.getInt();
  else if (recomputed)
    options.recompute = recorded.recompute;
  return options;
}

std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text;
}

/// The line from shortly before its character `difference` on.
std::string shortened(StringRef line, std::size_t difference) {
  constexpr std::size_t most = 160, before = 60;
  line = difference > before ? line.drop_front(difference - before) : line.trim();
  return codegen::oneLine((line.size() > most ? line.take_front(most) + "..." : line).str());
}

class Comparison {
public:
  Comparison(const std::string &folder, const nlohmann::json &document, ModuleOp plan,
             const std::string &path)
      : folder(folder), document(document), plan(plan), path(path) {}

  Result<bool> compare() {
    Result<RecordedOptions> options = readRecordedOptions(document);
    if (!options)
      return Status::badInput("'" + folder + "/plan.json': " + options.status().message());
    recorded = std::move(*options);
    if (Status read = this->read(); !read)
      return recorded.planOnly && read.kind() == ErrorKind::badInput ? Result<bool>(false) : read;
    (*module)->setAttrs(plan->getAttrDictionary());
    Status lowered = lower();
    if (!lowered)
      return Status::badInput("'" + folder + "': '" + path + "' cannot be lowered as the plan " +
                              "says: " + lowered.message());
    SYNCLINE_TRY(expectEqual(textOf(plan), textOf(*module)));
    SYNCLINE_TRY(imported ? compareFiles() : Status::ok());
    SYNCLINE_TRY(layers.empty() ? Status::ok() : compareLayers());
    return true;
  }

private:
  MLIRContext &context() { return *plan.getContext(); }

  Status read() {
    if (isTrace(path)) {
      SYNCLINE_TRY_GET(trace, frontend::readTraceModule(path, context()));
      module = std::move(*trace);
      return Status::ok();
    }
    SYNCLINE_TRY_GET(model, frontend::importOnnx(path, recorded.import, context()));
    module = std::move(model->module);
    imported = std::move(*model);
    return Status::ok();
  }

  /// Gives the plan's problem and its solution to the passes behind the planner.
  Status lower() {
    if (recorded.planOnly && !isTrace(path)) {
      imported.reset(); // such a plan has no files of values
      (*module)->setAttr(nn::precisionAttr, StringAttr::get(&context(), recorded.precision));
      SYNCLINE_TRY_GET(trace, replaceStep(module, path, {}));
      layers = files::formatLayerTrace(*trace);
    }
    rename();
    const PipelineOptions options = pipelineOf(plan, recorded);
    SYNCLINE_TRY(runPasses(*module, buildProblem, options));
    auto problem = firstOf<sync::ProblemOp>(*module);
    if (Status s = expectEqual(textOf(firstOf<sync::ProblemOp>(plan)), textOf(problem)); !s)
      return Status::ok(); // the whole comparison says the same
    OpBuilder builder(&context());
    builder.setInsertionPointAfter(problem);
    builder.clone(*firstOf<sync::SolutionOp>(plan));
    SYNCLINE_TRY(runPasses(*module, buildSolved, options));
    auto prediction = firstOf<sync::PredictionOp>(*module);
    auto planned = firstOf<sync::PredictionOp>(plan);
    prediction.setWholeAttr(planned.getWholeAttr()); // plans that were tried besides
    prediction.setGatheringAttr(planned.getGatheringAttr());
    for (StringRef name : {sync::disturbedAttr, sync::rangeAttr})
      if (const Attribute compared = planned->getAttr(name))
        prediction->setAttr(name, compared);
    return Status::ok();
  }

  /// The file may have another name by now.
  void rename() {
    auto step = firstOf<nn::StepOp>(*module);
    auto trace = firstOf<sync::TraceOp>(*module);
    if (auto program = firstOf<plan::ProgramOp>(plan); program && step)
      step.setSymName(program.getSymName());
    if (auto named = firstOf<sync::TraceOp>(plan); named && trace)
      trace.setSymName(named.getSymName());
  }

  Status expectEqual(const std::string &planned, const std::string &given) const {
    llvm::SmallVector<StringRef> ours, theirs;
    StringRef(planned).split(ours, '\n');
    StringRef(given).split(theirs, '\n');
    for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
      const StringRef mine = i < ours.size() ? ours[i] : "",
                      other = i < theirs.size() ? theirs[i] : "";
      if (mine == other)
        continue;
      const auto end = std::ranges::mismatch(mine, other).in1;
      const auto difference = static_cast<std::size_t>(end - mine.begin());
      return Status::badInput("'" + folder + "/plan.mlir': '" + path +
                              "' gives something else: expected '" + shortened(other, difference) +
                              "', got '" + shortened(mine, difference) + "'");
    }
    return Status::ok();
  }

  Status compareFiles() {
    ComparingBuffer values(folder + "/weights.bin"), skeleton(folder + "/model.onnx");
    std::ostream valuesOut(&values), skeletonOut(&skeleton);
    SYNCLINE_TRY(imported->weights.write(valuesOut));
    skeletonOut << imported->skeleton;
    for (auto [buffer, name] : {std::pair(&values, "weights.bin"), {&skeleton, "model.onnx"}})
      if (!buffer->isEqual())
        return Status::badInput("'" + folder + "/" + name + "': differs from what '" + path +
                                "' gives");
    return Status::ok();
  }

  Status compareLayers() {
    ComparingBuffer buffer(folder + "/layers.csv");
    std::ostream(&buffer) << layers;
    return buffer.isEqual() ? Status::ok()
                            : Status::badInput("'" + folder + "/layers.csv': differs from what '" +
                                               path + "' gives");
  }

  const std::string &folder;
  const nlohmann::json &document;
  ModuleOp plan;
  const std::string &path;
  RecordedOptions recorded;
  std::string layers; ///< the trace of a step that is planned by its shapes
  OwningOpRef<ModuleOp> module;
  std::optional<frontend::ImportedModel> imported;
};

} // namespace

Result<bool> compareModel(const std::string &folder, const nlohmann::json &document, ModuleOp plan,
                          const std::string &path) {
  return Comparison(folder, document, plan, path).compare();
}

} // namespace syncline::driver
