// Re-evaluates a plan on a slower or faster device, and plans anew there.
#include "passes/candidates/StepRange.h"

#include "ir/FirstOf.h"
#include "ir/cluster/SpecFields.h"
#include "passes/simulate/ir/PredictSlowed.h"

#include <algorithm>
#include <map>
#include <set>

using namespace mlir;

namespace syncline::candidates {
namespace {

/// Which gradients travel together, and how.
struct Decisions {
  std::map<std::string, std::set<cluster::Scheme>> schemes; ///< by gradient
  std::multiset<std::set<std::string>> messages;
  bool crosses = false;
};

Decisions decisionsOf(ModuleOp plan) {
  Decisions decisions;
  auto problem = firstOf<sync::ProblemOp>(plan);
  auto solution = firstOf<sync::SolutionOp>(plan);
  decisions.crosses = problem.getTails().has_value();
  for (auto message : solution.getMessages().getAsRange<sync::MessageAttr>()) {
    std::set<std::string> names;
    for (const std::int64_t layer : message.getLayers())
      names.insert(cast<StringAttr>(problem.getLayers()[layer]).str());
    for (const std::string &name : names)
      decisions.schemes[name].insert(message.getScheme());
    decisions.messages.insert(std::move(names));
  }
  return decisions;
}

/// Adds to the end what a plan has that is made for it.
void compare(sync::RangeEnd &end, const Decisions &own, const Decisions &there) {
  end.messages = std::ssize(there.messages);
  end.regroups = own.messages != there.messages;
  end.crosses = there.crosses;
  end.schemes = std::ranges::count_if(there.schemes, [&](const auto &gradient) {
    const auto found = own.schemes.find(gradient.first);
    return found == own.schemes.end() || found->second != gradient.second;
  });
}

} // namespace

Result<std::optional<sync::StepRange>> stepRange(const Request &request, ModuleOp source,
                                                 ModuleOp plan, double doubt, std::int64_t runs,
                                                 const ExpectFits &fits, const EnterPhase &enter) {
  sync::StepRange range;
  range.doubt = doubt;
  range.runs = runs;
  const auto spec = source->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const Decisions own = decisionsOf(plan);
  for (auto [end, factor] : {std::pair(&range.fast, 1 - doubt), {&range.slow, 1 + doubt}}) {
    SYNCLINE_TRY_GET(there, simulate::predictSlowed(plan, factor));
    if (!*there)
      return std::optional<sync::StepRange>();
    *end = {
        .step = (*there)->step, .exposed = (*there)->exposed, .efficiency = (*there)->efficiency};
    OwningOpRef<ModuleOp> slowed = source.clone();
    slowed.get()->setAttr(cluster::specAttr, cluster::slowedBy(spec, factor));
    const Result<Choice> choice = choosePlan(request, *slowed, fits, enter);
    if (!choice && choice.status().kind() == ErrorKind::internal)
      return choice.status();
    if (!choice) // no plan to compare with
      return std::optional<sync::StepRange>();
    compare(*end, own, decisionsOf(*choice->plan));
  }
  return std::optional(range);
}

} // namespace syncline::candidates
