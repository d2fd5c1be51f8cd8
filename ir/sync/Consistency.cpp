// Local updates: rule S19, the forms' text, and the cluster of gradients that stay.
#include "ir/sync/Consistency.h"

#include "ir/FirstOf.h"
#include "ir/cluster/SpecFields.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <array>
#include <charconv>
#include <cmath>

using namespace mlir;

namespace syncline::sync {

/// The shortest decimal that reads back to the same double.
static std::string shortest(double value) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

std::string whyNot(ConsistencyForm form, std::int64_t period, std::int64_t fragments,
                   std::int64_t delay, double mix, double rate, double momentum) {
  auto text = [](std::int64_t number) { return std::to_string(number); };
  if (period < 1)
    return "S19: expected a period of at least 1 step, got " + text(period);
  if (fragments < 1 || period % fragments != 0)
    return "S19: expected fragments that divide the period of " + text(period) + " steps, got " +
           text(fragments);
  if (delay < 0 || delay >= period / fragments)
    return "S19: expected a delay from 0 to below the " + text(period / fragments) +
           " steps of a window, got " + text(delay);
  if (!(mix >= 0 && mix <= 1))
    return "S19: expected a mix from 0 to 1, got " + shortest(mix);
  if (!(rate > 0 && std::isfinite(rate)))
    return "S19: expected a rate above 0, got " + shortest(rate);
  if (!(momentum >= 0 && momentum < 1))
    return "S19: expected a momentum from 0 to below 1, got " + shortest(momentum);
  if (form == ConsistencyForm::local &&
      (fragments != 1 || delay != 0 || mix != 0 || rate != 1 || momentum != 0))
    return "S19: expected a period alone for 'local'";
  return "";
}

LogicalResult ConsistencyAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                      ConsistencyForm form, int64_t period, int64_t fragments,
                                      int64_t delay, cluster::Real mix, cluster::Real rate,
                                      cluster::Real momentum) {
  const std::string reason = whyNot(form, period, fragments, delay, mix, rate, momentum);
  return reason.empty() ? success() : LogicalResult(emitError() << reason);
}

static Status malformed(StringRef text) {
  return Status::badInput("expected bsp, local:H or diloco:H,Q,TAU,ALPHA[,RATE,MOMENTUM], got '" +
                          text.str() + "'");
}

Result<ConsistencyAttr> parseConsistency(StringRef text, MLIRContext *context) {
  if (text == "bsp")
    return ConsistencyAttr();
  const auto [name, rest] = text.split(':');
  const std::optional<ConsistencyForm> form = symbolizeConsistencyForm(name);
  llvm::SmallVector<StringRef> parts;
  rest.split(parts, ',');
  const bool isLocal = form == ConsistencyForm::local;
  if (!form || (isLocal ? parts.size() != 1 : parts.size() != 4 && parts.size() != 6))
    return malformed(text);
  std::int64_t steps[] = {1, 1, 0};
  double reals[] = {0, isLocal ? 1 : 0.7, isLocal ? 0 : 0.9};
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (i < 3 ? parts[i].getAsInteger(10, steps[i])
              : parts[i].getAsDouble(reals[i - 3], /*AllowInexact=*/true))
      return malformed(text);
  const std::string reason =
      whyNot(*form, steps[0], steps[1], steps[2], reals[0], reals[1], reals[2]);
  if (!reason.empty())
    return Status::badInput("'" + text.str() + "': " + reason);
  return ConsistencyAttr::get(context, *form, steps[0], steps[1], steps[2], reals[0], reals[1],
                              reals[2]);
}

std::string consistencyText(ConsistencyAttr consistency) {
  if (!consistency)
    return "bsp";
  std::string text = stringifyConsistencyForm(consistency.getForm()).str() + ":" +
                     std::to_string(consistency.getPeriod());
  if (consistency.getForm() == ConsistencyForm::local)
    return text;
  return text + "," + std::to_string(consistency.getFragments()) + "," +
         std::to_string(consistency.getDelay()) + "," + shortest(consistency.getMix()) + "," +
         shortest(consistency.getRate()) + "," + shortest(consistency.getMomentum());
}

cluster::SpecAttr gradientCluster(ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  auto problem = firstOf<ProblemOp>(module);
  return spec && problem && problem.getConsistency() ? ofOneRank(spec) : spec;
}

cluster::SpecAttr ofOneRank(cluster::SpecAttr spec) {
  MLIRContext *context = spec.getContext();
  cluster::SpecFields fields(spec);
  const double slowdown = cluster::slowdown(spec);
  fields.setRanks(1);
  fields.devicesPerNode = fields.cardsPerNode = 1;
  fields.link = cluster::slowestLink(spec);
  if (!fields.link) // C13 wants one, though a lone rank sends nothing
    fields.link = cluster::LinkAttr::get(context, 0.0, 1e-9, 0.0);
  fields.inside = {};
  fields.collectives.clear(); // their times are those of several ranks
  fields.servers = {};
  fields.largestMessage.reset();
  fields.overrides.clear();
  if (slowdown > 1)
    fields.overrides.push_back(cluster::OverrideAttr::get(context, {0}, slowdown, {}));
  return fields.get(context);
}

} // namespace syncline::sync
