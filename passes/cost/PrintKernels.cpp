// The pass `print-kernels`: the kernels of a step as text, for tests and for fits.
#include "ir/cluster/Cluster.h"
#include "passes/Passes.h"
#include "passes/cost/Counts.h"
#include "passes/cost/StepKernels.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace syncline {
#define GEN_PASS_DEF_PRINTKERNELS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;

namespace syncline {
namespace {

std::string text(const cost::Kernel &kernel) {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << cost::className(kernel.kind);
  for (const double number : {kernel.flops, kernel.bytes, kernel.m, kernel.n, kernel.k,
                              kernel.batch, kernel.steps, kernel.launches, kernel.layoutBytes,
                              kernel.hasWindow ? 1.0 : 0.0, kernel.isUnaligned ? 1.0 : 0.0})
    os << llvm::format(" %.15g", number);
  return line;
}

struct PrintKernelsPass : syncline::impl::PrintKernelsBase<PrintKernelsPass> {
  using PrintKernelsBase::PrintKernelsBase;

  void runOnOperation() override {
    nn::StepOp step = getOperation();
    if (!llvm::is_contained(cluster::allLikes, like)) {
      step.emitError("expected 'like' as one of #cluster.kernels, got '" + like + "'");
      return signalPassFailure();
    }
    auto module = step->getParentOfType<ModuleOp>();
    const auto style =
        cost::KernelStyle::of(like, *cost::parsePrecision(nn::precisionOf(module).str()));
    std::map<std::string, int> counts;
    for (Operation &op : step.getBody().front()) {
      if (auto update = dyn_cast<nn::UpdateOp>(&op)) {
        const auto type = cast<ShapedType>(update.getParameter().getType());
        const auto elements = static_cast<double>(type.getNumElements());
        ++counts[text(cost::updateKernel(elements, 4 * elements, nn::optimizerOf(step), style))];
      }
      for (const cost::Kernel &kernel : cost::kernelsOf(&op, style))
        ++counts[text(kernel)];
    }
    for (const auto &[kernel, count] : counts)
      llvm::outs() << count << ' ' << kernel << '\n';
  }
};

} // namespace
} // namespace syncline
