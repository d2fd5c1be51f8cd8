// From a plan folder to an explanation.
#include "frontend/driver/Why.h"

#include "frontend/driver/Diagnostics.h"
#include "frontend/report/GradientName.h"
#include "frontend/driver/PlanModule.h"
#include "frontend/report/WhyReport.h"
#include "ir/plan/Plan.h"
#include "passes/RegisterAll.h"
#include "passes/explain/ir/Explain.h"
#include "passes/merge/MergeOps.h"
#include "passes/problem/Rounding.h"
#include "passes/proof/SolutionChecker.h"

using namespace mlir;

namespace syncline::driver {

namespace {

/// Whose operations read which parameters.
void addLayerNames(ModuleOp module, std::vector<GradientName> &gradients) {
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

std::vector<GradientName> namesOf(ModuleOp module, sync::ProblemOp problem) {
  std::vector<GradientName> gradients;
  for (auto [name, bytes] :
       llvm::zip(problem.getLayers().getAsRange<StringAttr>(), problem.getBytes()))
    gradients.push_back({name.str(), {}, bytes});
  addLayerNames(module, gradients);
  return gradients;
}

template <typename Op> Op firstOf(ModuleOp module) {
  auto range = module.getOps<Op>();
  return range.empty() ? Op() : *range.begin();
}

WhyContext contextOf(const std::vector<GradientName> &names, std::size_t layer,
                     const solver::JointProblem &problem, const explain::Explanation &explanation,
                     const cost::Offer &offer, sync::ProblemOp op, sync::SolutionOp solution) {
  WhyContext context{.gradient = names[layer].parameter,
                     .bytes = names[layer].bytes,
                     .ready = problem.layers[layer].ready,
                     .planner = solution.getPlanner().str(),
                     .updates = op.getUpdates().convertToDouble()};
  const double finish = solution.getFinish().convertToDouble();
  context.optimal = solution.getCertificate().has_value() &&
                    solver::isProved(finish, solution.getBound().convertToDouble());
  for (cluster::Scheme scheme : offer.leftOut)
    context.leftOut.push_back(cluster::stringifyScheme(scheme).str());
  context.isAsked = op.getAsked().has_value();
  if (explanation.rides)
    context.carrier = names[*problem.layers[layer].carrier].parameter;
  for (std::size_t mate : explanation.message.layers)
    if (mate != layer)
      context.mates.push_back(names[mate].parameter);
  for (std::int64_t rider : solution.getRiders().value_or(llvm::ArrayRef<std::int64_t>()))
    if (problem.layers[static_cast<std::size_t>(rider)].carrier == layer)
      context.riders.push_back(names[static_cast<std::size_t>(rider)].parameter);
  return context;
}

/// Of the message that brings the gradient, or its carrier's factors.
std::optional<VirtualTimes> simulatedTimes(ModuleOp module, const solver::JointPlan &plan,
                                           const explain::Explanation &explanation,
                                           const WhyContext &context) {
  auto prediction = firstOf<sync::PredictionOp>(module);
  const auto message = llvm::find_if(plan.messages, [&](const solver::JointMessage &candidate) {
    return candidate.layers == explanation.message.layers;
  });
  const auto place = static_cast<std::size_t>(message - plan.messages.begin());
  if (!prediction || place >= prediction.getReady().getValues().size())
    return std::nullopt;
  auto at = [&](sync::TimesAttr times) { return double(times.getValues()[place]); };
  return VirtualTimes{.ready = at(prediction.getReady()),
                      .start = at(prediction.getStart()),
                      .end = at(prediction.getEnd()),
                      .rebuilt = at(prediction.getRebuilt()),
                      .step = prediction.getStep().convertToDouble(),
                      .plannersStep = plan.finish + context.updates};
}

} // namespace

Result<std::string> whyGradient(const std::string &folder, const std::string &name) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Result<OwningOpRef<ModuleOp>> module = readPlanModule(folder, context);
  if (!module)
    return module.status();
  DiagnosticCollector diagnostics(&context);
  auto problem = firstOf<sync::ProblemOp>(**module);
  auto solution = firstOf<sync::SolutionOp>(**module);
  auto spec = (**module)->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (!problem || !solution || !spec)
    return Status::badInput("'" + folder +
                            "/plan.mlir': expected a problem, its solution and a "
                            "cluster");
  const std::vector<GradientName> names = namesOf(**module, problem);
  Result<std::size_t> layer = findGradient(names, name);
  if (!layer)
    return Status::badInput("'" + folder + "': " + layer.status().message());
  FailureOr<explain::PlannedProblem> planned = explain::PlannedProblem::create(problem, spec);
  if (failed(planned))
    return diagnostics.status("'" + folder + "/plan.mlir': not a problem");
  FailureOr<solver::JointPlan> plan = toPlan(solution, planned->asPlanned());
  if (failed(plan))
    return diagnostics.status("'" + folder + "/plan.mlir': not a solution");
  if (auto rejection = solver::checkJointPlan(planned->asPlanned(), *plan))
    return Status::badInput("'" + folder + "/plan.mlir': " + rejection->message);
  Result<explain::Explanation> explanation =
      explain::explain(*planned, *plan, solution.getPlanner().str(), *layer, samplesOf(**module));
  if (!explanation)
    return explanation.status();
  WhyContext why = contextOf(names, *layer, planned->asPlanned(), *explanation, planned->offer(),
                             problem, solution);
  why.simulated = simulatedTimes(**module, *plan, *explanation, why);
  return whyReport(*explanation, why);
}

} // namespace syncline::driver
