// Rule P29: messages that are waited for in the next step.
#include "passes/check/PlanFacts.h"

using namespace mlir;

namespace syncline::check {

namespace {

/// Judges one carried bucket. The operations from its wait to its update are its section. The first
/// step leaves the section out, and a drain runs it by itself.
class CarriedRules {
public:
  CarriedRules(const PlanFacts &facts, std::int64_t number)
      : facts(facts), number(number), first(PlanFacts::only(facts.waits, number)),
        last(std::max(first, PlanFacts::only(facts.updates, number))) {}

  LogicalResult check() const {
    llvm::DenseSet<Operation *> own;
    for (plan::TensorOp all : facts.steps[first].writes) {
      own.insert(all);
      if (failed(checkAlive(all)))
        return failure();
    }
    for (std::int64_t step = first; step <= last; ++step)
      if (failed(checkStep(step, own)))
        return failure();
    for (Operation *tensor : own)
      if (failed(checkAlone(cast<plan::TensorOp>(tensor))))
        return failure();
    return success();
  }

private:
  /// P29b and P29c: the section is of the update phase, and computes from what was gathered into
  /// tensors of its own.
  LogicalResult checkStep(std::int64_t number_, llvm::DenseSet<Operation *> &own) const {
    const Step &step = facts.steps[number_];
    const bool isOther =
        number_ != first && number_ != last && !isa<plan::CallOp, plan::PointwiseOp>(step.op);
    if (step.phase != plan::Phase::update || isOther)
      return reject(facts.steps[number_].op,
                    "P29: stands between wait and update of bucket " + llvm::Twine(number) +
                        ", which is carried over the step's end; only what computes its gradients "
                        "in the update phase may",
                    facts.steps[first].op, "waited for here");
    for (plan::TensorOp tensor : step.reads)
      if (!own.contains(tensor))
        return reject(facts.steps[number_].op,
                      "P29: reads '" + tensor.getName() + "', which bucket " + llvm::Twine(number) +
                          " of the step before did not bring",
                      facts.steps[first].op, "waited for here");
    for (plan::TensorOp tensor : step.writes) {
      const bool isGradient = tensor.getSpace() == plan::Space::gradients;
      if (tensor.getSpace() != plan::Space::arena && !isGradient)
        return reject(facts.steps[number_].op,
                      "P29: writes '" + tensor.getName() + "' between wait and update of bucket " +
                          llvm::Twine(number) + ", which the first step leaves out",
                      facts.steps[first].op, "waited for here");
      own.insert(tensor);
    }
    return success();
  }

  /// P29e: what is gathered lives from one step to the next, so in the whole step.
  LogicalResult checkAlive(plan::TensorOp all) const {
    const auto live = all.getLive();
    const auto end = static_cast<std::int64_t>(facts.steps.size()) - 1;
    if (!live || ((*live)[0] <= 0 && (*live)[1] >= end))
      return success(); // P15 rejects tensors outside of the arena
    return reject(facts.steps[first].op,
                  "P29: expected '" + all.getName() + "', which holds what bucket " +
                      llvm::Twine(number) + " gathers for the next step, to live in [0, " +
                      llvm::Twine(end) + "], got [" + llvm::Twine((*live)[0]) + ", " +
                      llvm::Twine((*live)[1]) + "]",
                  all, "declared here");
  }

  /// P29d: no operation outside of the section uses its tensors; the gather begins the next use.
  LogicalResult checkAlone(plan::TensorOp tensor) const {
    const std::int64_t issue = PlanFacts::only(facts.issues, number);
    for (const auto *accesses : {&facts.readers, &facts.writers}) {
      auto found = accesses->find(tensor);
      if (found == accesses->end())
        continue;
      for (std::int64_t step : found->second)
        if ((step < first || step > last) && step != issue)
          return reject(facts.steps[step].op,
                        "P29: touches '" + tensor.getName() +
                            "', which only what follows the wait for bucket " +
                            llvm::Twine(number) + " may",
                        facts.steps[first].op, "waited for here");
    }
    return success();
  }

  const PlanFacts &facts;
  std::int64_t number, first, last;
};

} // namespace

LogicalResult checkCarried(const PlanFacts &facts) {
  for (auto [number, bucket] : facts.buckets)
    if (facts.isCarried(number) && failed(CarriedRules(facts, number).check()))
      return failure();
  return success();
}

} // namespace syncline::check
