// From a plan folder to an explanation.
#include "frontend/driver/Why.h"

#include "codegen/folder/PlanFolder.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PlanModule.h"
#include "frontend/report/DisturbedText.h"
#include "frontend/report/ExchangeText.h"
#include "frontend/report/GradientName.h"
#include "frontend/report/OrderWhy.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/WhyReport.h"
#include "ir/FirstOf.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"
#include "passes/Diagnostics.h"
#include "passes/explain/ir/Explain.h"
#include "passes/merge/PlannedModule.h"
#include "passes/problem/Interference.h"
#include "passes/problem/Rounding.h"
#include "syncline/RowsPart.h"
#include "syncline/Scheme.h"

#include <nlohmann/json.hpp>

#include <optional>

using namespace mlir;

namespace syncline::driver {

namespace {

/// Adds to each gradient the names of the operations that read its parameter.
void addLayerNames(ModuleOp module, std::vector<report::GradientName> &gradients) {
  llvm::StringMap<std::size_t> places;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    places[gradients[i].parameter] = i;
  module.walk([&](plan::TensorOp tensor) {
    auto place = places.find(tensor.getName());
    if (tensor.getSpace() != plan::Space::parameters || place == places.end())
      return;
    for (Operation *reader : tensor->getUsers())
      if (auto call = dyn_cast<plan::CallOp>(reader))
        gradients[place->second].layers.push_back(call.getLayer().str());
  });
}

std::vector<report::GradientName> namesOf(ModuleOp module, sync::ProblemOp problem) {
  std::vector<report::GradientName> gradients;
  for (auto [name, bytes] :
       llvm::zip(problem.getLayers().getAsRange<StringAttr>(), problem.getBytes()))
    gradients.push_back({name.str(), {}, bytes});
  addLayerNames(module, gradients);
  return gradients;
}

std::int64_t microBatchesOf(ModuleOp module) {
  auto program = firstOf<plan::ProgramOp>(module);
  return program ? plan::microBatchesOf(program) : 1;
}

report::WhyContext contextOf(const std::vector<report::GradientName> &names, std::size_t layer,
                             const explain::Explanation &explanation,
                             const merge::PlannedModule &planned) {
  const problem::Problem &problem = planned.problem.asPlanned();
  sync::ProblemOp op = planned.problemOp;
  sync::SolutionOp solution = planned.solutionOp;
  report::WhyContext context{.gradient = names[layer].parameter,
                             .bytes = names[layer].bytes,
                             .ready = problem.layers[layer].ready,
                             .planner = solution.getPlanner().str(),
                             .updates = op.getUpdates().convertToDouble(),
                             .lost = problem::mostLost(problem, planned.solution)};
  for (const report::GradientName &name : names)
    context.gradients.push_back(name.parameter);
  const double finish = solution.getFinish().convertToDouble();
  const bool gathers = llvm::any_of(planned.solution.messages,
                                    [](const auto &message) { return message.isFactors; });
  context.optimal = (microBatchesOf(op->getParentOfType<ModuleOp>()) == 1 || !gathers) &&
                    solution.getCertificate().has_value() &&
                    problem::isProved(finish, solution.getBound().convertToDouble());
  context.byNccl = planned.problem.catalog().byNccl;
  for (cluster::Scheme scheme : planned.problem.catalog().unsupported)
    context.unavailable.push_back(cluster::stringifyScheme(scheme).str());
  context.isRequested = op.getRequested().has_value();
  if (explanation.isPiggyback)
    context.carrier = names[*problem.layers[layer].carrier].parameter;
  for (std::size_t mate : explanation.message.layers)
    if (mate != layer)
      context.mates.push_back(names[mate].parameter);
  for (std::int64_t piggyback : solution.getPiggybacks().value_or(llvm::ArrayRef<std::int64_t>()))
    if (problem.layers[static_cast<std::size_t>(piggyback)].carrier == layer)
      context.piggybacks.push_back(names[static_cast<std::size_t>(piggyback)].parameter);
  return context;
}

/// Seconds of the step's last micro-batch.
double lastMicroBatchOf(ModuleOp module, sync::PredictionOp prediction) {
  auto microBatch = prediction.getMicroBatchAttr();
  return prediction.getStep().convertToDouble() -
         static_cast<double>(microBatchesOf(module) - 1) *
             (microBatch ? microBatch.getValueAsDouble() : 0);
}

/// How the plan's first bucket with this gradient travels.
std::optional<Scheme> schemeOf(ModuleOp module, StringRef gradient) {
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto bucket : program.getOps<plan::BucketOp>())
      for (auto member : bucket.getMembers().getAsRange<StringAttr>())
        if (member.getValue() == gradient)
          return bucket.getScheme();
  return std::nullopt;
}

/// What a step of several micro-batches moves for the message that brings this gradient.
std::string microBatchText(ModuleOp module, const std::string &gradient) {
  const std::int64_t microBatches = microBatchesOf(module);
  const std::optional<Scheme> scheme = schemeOf(module, gradient);
  if (microBatches == 1 || !scheme)
    return "";
  const std::string count = std::to_string(microBatches);
  return "a step has " + count + " micro-batches, and all times are those of the last one: by " +
         std::string(schemeName(*scheme)) +
         (isGathered(*scheme) ? " the message travels in each, which is " + count +
                                    " times the traffic above a step"
                              : " the gradient travels in that one only, by factors and sparse it "
                                "would in each") +
         "\n";
}

/// Times of one of the plan's messages in virtual time; nothing without a prediction.
std::optional<report::VirtualTimes> simulatedTimes(ModuleOp module, std::size_t message,
                                                   double plannersStep) {
  auto prediction = firstOf<sync::PredictionOp>(module);
  if (!prediction || message >= prediction.getReady().getValues().size())
    return std::nullopt;
  auto at = [&](sync::TimesAttr times) { return double(times.getValues()[message]); };
  std::size_t last = message; // the message that brings the gradient
  auto solution = firstOf<sync::SolutionOp>(module);
  if (cast<sync::MessageAttr>(solution.getMessages()[message]).getGather())
    last = solution.placeOfGather(message);
  return report::VirtualTimes{.ready = at(prediction.getReady()),
                              .start = at(prediction.getStart()),
                              .end = prediction.getEnd().getValues()[last],
                              .reconstructed = prediction.getReconstructed().getValues()[last],
                              .step = lastMicroBatchOf(module, prediction),
                              .plannersStep = plannersStep};
}

/// The number of the message that brings the gradient, or the factors of its carrier.
std::size_t placeOf(const problem::Solution &plan, const explain::Explanation &explanation) {
  const auto message = llvm::find_if(plan.messages, [&](const problem::Message &candidate) {
    return candidate.layers == explanation.message.layers;
  });
  return static_cast<std::size_t>(message - plan.messages.begin());
}

/// The first operation that reads the parameter; empty where the module has no program.
std::string firstReader(ModuleOp module, const std::string &parameter) {
  Operation *first = nullptr;
  module.walk([&](plan::TensorOp tensor) {
    if (tensor.getSpace() != plan::Space::parameters || tensor.getName() != parameter)
      return;
    for (Operation *reader : tensor->getUsers())
      if (isa<plan::CallOp>(reader) && (!first || reader->isBeforeInBlock(first)))
        first = reader;
  });
  return first ? cast<plan::CallOp>(first).getLayer().str() : "";
}

std::string whyOrdered(ModuleOp module, const merge::PlannedModule &planned,
                       const std::vector<report::GradientName> &names, std::size_t layer) {
  const explain::OrderExplanation explanation = explain::explainOrder(planned, layer);
  sync::ProblemOp op = planned.problemOp;
  sync::SolutionOp solution = planned.solutionOp;
  const problem::Problem alike = problem::withoutClasses(planned.problem.asPlanned());
  report::OrderWhyContext context{.reader = firstReader(module, names[layer].parameter),
                                  .planner = solution.getPlanner().str(),
                                  .isRequested = op.getRequested().has_value(),
                                  .lost = problem::mostLost(alike, planned.solution)};
  for (const report::GradientName &name : names)
    context.gradients.push_back(name.parameter);
  if (!explanation.parts.empty())
    context.simulated =
        simulatedTimes(module, explanation.parts.back().message, explanation.period);
  return report::orderWhy(explanation, context);
}

/// The rule of rows, where the gradient may travel by them; else nothing.
std::string rowsText(ModuleOp module, const merge::PlannedModule &planned,
                     const std::string &parameter, std::size_t layer) {
  const problem::Problem &problem = planned.problem.asPlanned();
  const auto &options = problem.layers[layer].factorOptions;
  const auto rows = llvm::find_if(options, [](auto &option) { return hasRows(option.scheme); });
  const auto message = llvm::find_if(planned.solution.messages, [&](const auto &candidate) {
    return llvm::is_contained(candidate.layers, layer);
  });
  auto program = firstOf<plan::ProgramOp>(module);
  if (rows == options.end() || message == planned.solution.messages.end() || !program)
    return "";
  for (auto tensor : program.getOps<plan::TensorOp>()) {
    auto type = cast<MemRefType>(tensor.getType());
    if (tensor.getSpace() != plan::Space::gradients ||
        tensor.getName() != StringRef(parameterOf(parameter)) || type.getRank() < 1)
      continue;
    report::RowRule rule{.scheme = rows->scheme,
                         .ranks = planned.problem.cluster().getRanks(),
                         .table = type.getDimSize(0),
                         .rowBytes = plan::denseBytes(type) / type.getDimSize(0)};
    constexpr std::int64_t idBytes = 8;
    rule.rows = rows->factorBytes / (rule.rowBytes + idBytes);
    return report::rowRule(rule, planned.solution.scheme(problem, *message));
  }
  return "";
}

/// Where the gradient's other part is told of, if it travels in two.
std::string partsText(const std::vector<report::GradientName> &names,
                      const std::string &parameter) {
  const std::string whole(parameterOf(parameter));
  if (whole != parameter)
    return "these rows are added to the dense part of the gradient; of that one tells --why '" +
           whole + "'\n";
  const std::string rows = whole + std::string(rowsEnding);
  const bool isSplit =
      llvm::any_of(names, [&](const report::GradientName &name) { return name.parameter == rows; });
  return isSplit
             ? "this is the dense part of the gradient; an embedding's rows are added to it, of "
               "which tells --why '" +
                   rows + "'\n"
             : "";
}

/// What to add where the plan has several channels.
std::string channelsText(const problem::Solution &plan) {
  const int channels = plan.channels();
  return channels == 1 ? ""
                       : "messages take turns on " + std::to_string(channels) +
                             " channels; only virtual times say so, all others are those of one\n";
}

} // namespace

/// When the weights that have this gradient travel, where gradients do not.
static Result<std::string> whyLocal(const std::string &folder, const std::string &parameter) {
  SYNCLINE_TRY_GET(plan, codegen::readPlanJson(folder));
  return report::whyExchange(*plan, parameter);
}

/// Which plans lost against this one in disturbed steps, where any were compared.
static Result<std::string> whyDisturbed(const std::string &folder) {
  SYNCLINE_TRY_GET(plan, codegen::readPlanJson(folder));
  Result<std::string> text =
      report::guarded([&] { return report::disturbedWhy(plan->at("predicted")); });
  if (!text)
    return Status::badInput("'" + folder + "/plan.json': " + text.status().message());
  return text;
}

Result<std::string> whyGradient(const std::string &folder, const std::string &name) {
  PlanContext context;
  SYNCLINE_TRY_GET(module, readPlanModule(folder, context));
  DiagnosticCollector diagnostics(&context);
  Result<merge::PlannedModule> planned = merge::readPlannedModule(**module);
  if (!planned)
    return diagnostics.status("'" + folder + "/plan.mlir': " + planned.status().message());
  const std::vector<report::GradientName> names = namesOf(**module, planned->problemOp);
  Result<std::size_t> layer = report::findGradient(names, name);
  if (!layer)
    return Status::badInput("'" + folder + "': " + layer.status().message());
  if (planned->problemOp.getConsistency())
    return whyLocal(folder, names[*layer].parameter);
  SYNCLINE_TRY_GET(disturbed, whyDisturbed(folder));
  const std::string rows = rowsText(**module, *planned, names[*layer].parameter, *layer);
  const std::string microBatches = microBatchText(**module, names[*layer].parameter);
  if (planned->problemOp.getTails())
    return whyOrdered(**module, *planned, names, *layer) + rows + microBatches +
           channelsText(planned->solution) + *disturbed;
  SYNCLINE_TRY_GET(explanation, explain::explain(planned->problem, planned->solution,
                                                 planned->solutionOp.getPlanner().str(), *layer,
                                                 planned->samples));
  report::WhyContext why = contextOf(names, *layer, *explanation, *planned);
  why.simulated = simulatedTimes(**module, placeOf(planned->solution, *explanation),
                                 planned->solution.finish + why.updates);
  return report::whyReport(*explanation, why) + rows + partsText(names, why.gradient) +
         microBatches + channelsText(planned->solution) + *disturbed;
}

} // namespace syncline::driver
