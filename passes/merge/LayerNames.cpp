// Names of gradients: the parameter's, and those of the layers that read it.
#include "passes/merge/LayerNames.h"

#include "ir/nn/NN.h"
#include "syncline/RowsPart.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace syncline::merge {

/// The parameter's name, and the name without its last part: "fc.weight", "fc".
static GradientNames withStem(StringRef parameter) {
  return {parameter.str(), parameter.rsplit('.').first.str()};
}

static GradientNames namesOf(StringRef parameter, Value value) {
  GradientNames names = withStem(parameter);
  for (Operation *reader : value.getUsers())
    if (StringRef layer = nn::layerOf(reader); !layer.empty())
      names.push_back(layer.str());
  return names;
}

GradientNames namesOf(cost::ReadyGradient gradient) {
  if (!gradient.update || isRowsPart(gradient.name))
    return {gradient.name};
  return namesOf(gradient.name, gradient.update.getParameter());
}

GradientNames namesOf(plan::TensorOp parameter) {
  GradientNames names = withStem(parameter.getName());
  for (Operation *reader : parameter.getResult().getUsers())
    if (isa<plan::CallOp, plan::PointwiseOp>(reader))
      names.push_back(plan::layerOf(reader).str());
  return names;
}

Result<std::vector<std::optional<cluster::Scheme>>> requestedSchemes(sync::ProblemOp problem) {
  llvm::SmallVector<RequestedScheme> patterns;
  if (problem.getRequested())
    for (StringRef text : problem.getRequestedAttr().getAsValueRange<StringAttr>()) {
      SYNCLINE_TRY_GET(pattern, parseRequestedScheme(text));
      patterns.push_back(*pattern);
    }
  llvm::StringMap<GradientNames> known;
  auto module = problem->getParentOfType<ModuleOp>();
  for (auto step : module.getOps<nn::StepOp>())
    for (auto update : step.getOps<nn::UpdateOp>())
      if (auto parameter = update.getParameter().getDefiningOp<nn::ParameterOp>())
        known[parameter.getName()] = namesOf(parameter.getName(), parameter);
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto tensor : program.getOps<plan::TensorOp>())
      if (tensor.getSpace() == plan::Space::parameters)
        known[tensor.getName()] = namesOf(tensor);
  for (auto trace : module.getOps<sync::TraceOp>())
    for (auto layer : trace.getOps<sync::LayerOp>())
      known[layer.getName()] = {layer.getName().str()};
  llvm::SmallVector<GradientNames> names;
  for (StringRef layer : problem.getLayers().getAsValueRange<StringAttr>()) {
    auto found = known.find(layer);
    names.push_back(found == known.end() ? withStem(layer) : found->second);
  }
  return requestedSchemes(names, patterns);
}

} // namespace syncline::merge
