// From a plan folder to an explanation.
#include "frontend/driver/Why.h"

#include "frontend/driver/Diagnostics.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PlanModule.h"
#include "frontend/report/GradientName.h"
#include "frontend/report/WhyReport.h"
#include "ir/FirstOf.h"
#include "ir/plan/Plan.h"
#include "passes/explain/ir/Explain.h"
#include "passes/merge/PlannedModule.h"
#include "passes/problem/Rounding.h"

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
                             .updates = op.getUpdates().convertToDouble()};
  const double finish = solution.getFinish().convertToDouble();
  context.optimal = solution.getCertificate().has_value() &&
                    problem::isProved(finish, solution.getBound().convertToDouble());
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

/// Times of the message that brings the gradient, or the factors of its carrier.
std::optional<report::VirtualTimes> simulatedTimes(ModuleOp module, const problem::Solution &plan,
                                                   const explain::Explanation &explanation,
                                                   const report::WhyContext &context) {
  auto prediction = firstOf<sync::PredictionOp>(module);
  const auto message = llvm::find_if(plan.messages, [&](const problem::Message &candidate) {
    return candidate.layers == explanation.message.layers;
  });
  const auto place = static_cast<std::size_t>(message - plan.messages.begin());
  if (!prediction || place >= prediction.getReady().getValues().size())
    return std::nullopt;
  auto at = [&](sync::TimesAttr times) { return double(times.getValues()[place]); };
  return report::VirtualTimes{.ready = at(prediction.getReady()),
                              .start = at(prediction.getStart()),
                              .end = at(prediction.getEnd()),
                              .reconstructed = at(prediction.getReconstructed()),
                              .step = prediction.getStep().convertToDouble(),
                              .plannersStep = plan.finish + context.updates};
}

} // namespace

Result<std::string> whyGradient(const std::string &folder, const std::string &name) {
  PlanContext context;
  Result<OwningOpRef<ModuleOp>> module = readPlanModule(folder, context);
  if (!module)
    return module.status();
  DiagnosticCollector diagnostics(&context);
  Result<merge::PlannedModule> planned = merge::readPlannedModule(**module);
  if (!planned)
    return diagnostics.status("'" + folder + "/plan.mlir': " + planned.status().message());
  if (planned->problemOp.getTails())
    return Status::badInput("'" + folder +
                            "' has an order of '--overlap step', which '--why' does not explain "
                            "yet; 'inspect' says what overtakes what and why");
  const std::vector<report::GradientName> names = namesOf(**module, planned->problemOp);
  Result<std::size_t> layer = report::findGradient(names, name);
  if (!layer)
    return Status::badInput("'" + folder + "': " + layer.status().message());
  Result<explain::Explanation> explanation =
      explain::explain(planned->problem, planned->solution, planned->solutionOp.getPlanner().str(),
                       *layer, planned->samples);
  if (!explanation)
    return explanation.status();
  report::WhyContext why = contextOf(names, *layer, *explanation, *planned);
  why.simulated = simulatedTimes(**module, planned->solution, *explanation, why);
  return report::whyReport(*explanation, why);
}

} // namespace syncline::driver
