// The pass `cost`: predicts the time of every operation of a step.
#include "ir/cluster/Cluster.h"
#include "passes/Passes.h"
#include "passes/cost/CostModel.h"

namespace syncline {
#define GEN_PASS_DEF_COST
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;

namespace syncline {
namespace {

struct CostPass : syncline::impl::CostBase<CostPass> {
  void runOnOperation() override {
    nn::StepOp step = getOperation();
    auto module = step->getParentOfType<ModuleOp>();
    auto spec =
        module ? module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr) : cluster::SpecAttr();
    if (!spec) {
      step.emitError("expected a module with the attribute 'cluster.spec' around the step");
      return signalPassFailure();
    }
    auto profile = module->getAttrOfType<DictionaryAttr>(cluster::profileAttr);
    std::optional<double> updateRate;
    if (auto rate = module->getAttrOfType<FloatAttr>(cluster::updateAttr))
      updateRate = rate.getValueAsDouble();
    if (failed(cost::annotate(step, cluster::slowestDevice(spec), profile, cluster::slowdown(spec),
                              updateRate)))
      signalPassFailure();
  }
};

} // namespace
} // namespace syncline
