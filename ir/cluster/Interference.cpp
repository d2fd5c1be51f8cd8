// How much slower operations are beside messages, by what a spec and its collectives state.
#include "ir/cluster/Cluster.h"

namespace syncline::cluster {

/// What the spec states of the scheme's messages; null where it states nothing.
static CollectiveAttr statedOf(SpecAttr spec, Scheme scheme) {
  for (CollectiveAttr stated : spec.getCollectives())
    if (stated.getScheme() == pricedAs(scheme))
      return stated;
  return {};
}

double interference(SpecAttr spec) { return spec.getInterference(); }

/// The number that is stated for all operations beside the scheme's messages.
static double statedInterference(SpecAttr spec, CollectiveAttr stated) {
  return stated && stated.getInterference() ? *stated.getInterference() : spec.getInterference();
}

double interference(SpecAttr spec, Scheme scheme) {
  const auto [products, memory] = interferenceByClass(spec, scheme);
  return products == memory ? products : statedInterference(spec, statedOf(spec, scheme));
}

ClassFactors interferenceByClass(SpecAttr spec, Scheme scheme) {
  const CollectiveAttr stated = statedOf(spec, scheme);
  const double all = statedInterference(spec, stated);
  // A scheme's number for all operations is nearer than the spec's for a class.
  ClassFactors common{all, all};
  if (!stated || !stated.getInterference())
    common = {spec.getProductsInterference().value_or(all),
              spec.getMemoryInterference().value_or(all)};
  if (!stated)
    return common;
  return {stated.getProducts().value_or(common.products),
          stated.getMemory().value_or(common.memory)};
}

double messageInterference(SpecAttr spec) {
  constexpr double oneAfterTheOther = 2;
  return spec.getMessageInterference().value_or(oneAfterTheOther);
}

CollectiveAttr CollectiveAttr::withCost(mlir::Attribute cost) const {
  return get(getContext(), getScheme(), cost, getInterference(), getProducts(), getMemory());
}

} // namespace syncline::cluster
