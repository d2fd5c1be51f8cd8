// Who waits for whom: reading the forms, and the cluster over which gradients travel.
#pragma once

#include "ir/sync/Sync.h"
#include "syncline/Status.h"

#include <cstdint>
#include <string>

namespace syncline::sync {

/// The numbers of a #sync.consistency, with the defaults that they have there. Rule S19 says which
/// form has which.
struct ConsistencyNumbers {
  ConsistencyForm form;
  std::int64_t period = 1, fragments = 1, delay = 0;
  double mix = 0, rate = 1, momentum = 0;
  std::int64_t lower = 0, upper = 0;
  EasgdVariant variant = EasgdVariant::original;
  double rho = 0;

  bool operator==(const ConsistencyNumbers &) const = default;
};

/// The most steps that a number of a consistency counts.
inline constexpr std::int64_t mostSteps = std::int64_t{1} << 40;

/// Why these numbers are no consistency, citing S19; empty for none.
std::string whyNot(const ConsistencyNumbers &numbers);

/// Every form as parseConsistency reads it, in one line.
std::string consistencyForms();

/// Reads one of consistencyForms(); "bsp" gives null. What stands in brackets may be left out: TAU
/// is then 1, RATE 0.7 and MOMENTUM 0.9. Errors: badInput, saying what was expected.
Result<ConsistencyAttr> parseConsistency(llvm::StringRef text, mlir::MLIRContext *context);

/// The text that parseConsistency reads; "bsp" for null.
std::string consistencyText(ConsistencyAttr consistency);

/// The cluster over which the module's gradients travel: its `cluster.spec`, or ofOneRank() of it
/// where a problem of the module has a consistency. Null without a spec.
cluster::SpecAttr gradientCluster(mlir::ModuleOp module);

/// The cluster on which an exchange takes its seconds: the spec itself, or one rank of it with its
/// dedicated servers where ranks take turns (EASGD's `original`).
cluster::SpecAttr exchangeCluster(cluster::SpecAttr spec, ConsistencyAttr consistency);

/// A cluster of one rank, which is the spec's slowest.
cluster::SpecAttr ofOneRank(cluster::SpecAttr spec);

} // namespace syncline::sync
