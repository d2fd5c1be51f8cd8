// Writes, reads and verifies `cluster.message_scatter`.
#include "ir/cluster/MessageScatter.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace syncline::cluster {

std::vector<double> messageScatterOf(ModuleOp module) {
  std::vector<double> factors;
  if (auto list = module->getAttrOfType<ArrayAttr>(messageScatterAttr))
    for (FloatAttr factor : list.getAsRange<FloatAttr>())
      factors.push_back(factor.getValueAsDouble());
  return factors;
}

void setMessageScatter(ModuleOp module, llvm::ArrayRef<double> factors) {
  module->setAttr(messageScatterAttr, Builder(module.getContext()).getF64ArrayAttr(factors));
}

bool isMessageScatter(Attribute attribute) {
  constexpr std::size_t most = 1024;
  constexpr double least = 1e-6, largest = 1e6;
  auto list = llvm::dyn_cast<ArrayAttr>(attribute);
  return list && !list.empty() && list.size() <= most && llvm::all_of(list, [](Attribute one) {
           auto factor = llvm::dyn_cast<FloatAttr>(one);
           return factor && factor.getType().isF64() && factor.getValueAsDouble() >= least &&
                  factor.getValueAsDouble() <= largest;
         });
}

} // namespace syncline::cluster
