// Consistency: rule S19, the forms' text, and the cluster of gradients that stay.
#include "ir/sync/Consistency.h"

#include "ir/FirstOf.h"
#include "ir/cluster/SpecFields.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <array>
#include <charconv>
#include <cmath>
#include <variant>

using namespace mlir;

namespace syncline::sync {

/// The shortest decimal that reads back to the same double.
static std::string shortest(double value) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

namespace {

/// One number of a form: its name in the attribute, and its place.
struct Slot {
  StringRef name;
  std::variant<std::int64_t *, double *, EasgdVariant *> place;
};

} // namespace

/// The numbers that a form has, in the order of its text (S19).
static llvm::SmallVector<Slot> slotsOf(ConsistencyNumbers &n) {
  switch (n.form) {
  case ConsistencyForm::bsp:
    return {};
  case ConsistencyForm::local:
    return {{"period", &n.period}};
  case ConsistencyForm::diloco:
    return {{"period", &n.period}, {"fragments", &n.fragments}, {"delay", &n.delay},
            {"mix", &n.mix},       {"rate", &n.rate},           {"momentum", &n.momentum}};
  case ConsistencyForm::ssp:
    return {{"upper", &n.upper}};
  case ConsistencyForm::asp:
    return {};
  case ConsistencyForm::dssp:
    return {{"lower", &n.lower}, {"upper", &n.upper}};
  case ConsistencyForm::easgd:
    return {{"variant", &n.variant}, {"rho", &n.rho}, {"period", &n.period}};
  }
  llvm_unreachable("no form");
}

/// The numbers with defaults in the place of those that the form does not have.
static ConsistencyNumbers ownNumbers(ConsistencyNumbers numbers) {
  ConsistencyNumbers own{numbers.form};
  for (auto [from, to] : llvm::zip(slotsOf(numbers), slotsOf(own)))
    std::visit([&, &to = to](auto *value) { *std::get<decltype(value)>(to.place) = *value; },
               from.place);
  return own;
}

static std::string whyNoDiloco(const ConsistencyNumbers &n) {
  const std::string period = std::to_string(n.period);
  if (n.fragments < 1 || n.period % n.fragments != 0)
    return "S19: expected fragments that divide the period of " + period + " steps, got " +
           std::to_string(n.fragments);
  if (n.delay < 0 || n.delay >= n.period / n.fragments)
    return "S19: expected a delay from 0 to below the " + std::to_string(n.period / n.fragments) +
           " steps of a window, got " + std::to_string(n.delay);
  if (!(n.mix >= 0 && n.mix <= 1))
    return "S19: expected a mix from 0 to 1, got " + shortest(n.mix);
  if (!(n.rate > 0 && std::isfinite(n.rate)))
    return "S19: expected a rate above 0, got " + shortest(n.rate);
  if (!(n.momentum >= 0 && n.momentum < 1))
    return "S19: expected a momentum from 0 to below 1, got " + shortest(n.momentum);
  return "";
}

std::string whyNot(const ConsistencyNumbers &n) {
  for (std::int64_t steps : {n.period, n.lower, n.upper})
    if (steps > mostSteps)
      return "S19: expected at most " + std::to_string(mostSteps) + " steps, got " +
             std::to_string(steps);
  if (n.period < 1)
    return "S19: expected a period of at least 1 step, got " + std::to_string(n.period);
  if (n.form == ConsistencyForm::ssp && n.upper < 0)
    return "S19: expected a staleness of at least 0 steps, got " + std::to_string(n.upper);
  if (n.lower < 0 || (n.form == ConsistencyForm::dssp && n.lower > n.upper))
    return "S19: expected 0 <= L <= U steps, got " + std::to_string(n.lower) + " and " +
           std::to_string(n.upper);
  if (n.form == ConsistencyForm::dssp && n.upper - n.lower > mostStepsApart)
    return "S19: expected bounds at most " + std::to_string(mostStepsApart) + " steps apart, got " +
           std::to_string(n.lower) + " and " + std::to_string(n.upper);
  if (n.form == ConsistencyForm::easgd && !(n.rho > 0 && std::isfinite(n.rho)))
    return "S19: expected a rho above 0, got " + shortest(n.rho);
  if (n.form == ConsistencyForm::diloco)
    if (std::string reason = whyNoDiloco(n); !reason.empty())
      return reason;
  if (ownNumbers(n) == n)
    return "";
  llvm::SmallVector<StringRef> names;
  ConsistencyNumbers copy = n;
  for (const Slot &slot : slotsOf(copy))
    names.push_back(slot.name);
  return "S19: expected " + (names.empty() ? "no number" : llvm::join(names, ", ") + " alone") +
         " for '" + std::string(formName(n.form)) + "'";
}

LogicalResult ConsistencyAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                      ConsistencyForm form, int64_t period, int64_t fragments,
                                      int64_t delay, cluster::Real mix, cluster::Real rate,
                                      cluster::Real momentum, int64_t lower, int64_t upper,
                                      EasgdVariant variant, cluster::Real rho) {
  const std::string reason =
      whyNot({form, period, fragments, delay, mix, rate, momentum, lower, upper, variant, rho});
  return reason.empty() ? success() : LogicalResult(emitError() << reason);
}

bool ConsistencyAttr::isServed() const { return syncline::isServed(getForm(), getVariant()); }

std::string consistencyForms() {
  std::string text;
  for (const ConsistencyRow &row : consistencyRows) {
    const bool isLast = row.form == ConsistencyForm::diloco;
    text += (text.empty() ? "" : isLast ? " or " : ", ") + std::string(row.usage);
  }
  return text;
}

/// Reads one number. The error says what was expected, or is empty where the text is none.
static Status readSlot(StringRef part, const Slot &slot) {
  if (auto *const *steps = std::get_if<std::int64_t *>(&slot.place))
    return part.getAsInteger(10, **steps) ? Status::badInput("") : Status::ok();
  if (auto *const *real = std::get_if<double *>(&slot.place))
    return part.getAsDouble(**real, /*AllowInexact=*/true) ? Status::badInput("") : Status::ok();
  const std::optional<EasgdVariant> variant = enumNamed<EasgdVariant>(variantNames, part);
  if (!variant)
    return Status::badInput("expected one of " + llvm::join(variantNames, ", ") +
                            " as variant, got '" + part.str() + "'");
  *std::get<EasgdVariant *>(slot.place) = *variant;
  return Status::ok();
}

Result<ConsistencyAttr> parseConsistency(StringRef text, MLIRContext *context) {
  if (text == "bsp")
    return ConsistencyAttr();
  const auto [name, rest] = text.split(':');
  const std::optional<ConsistencyForm> form = enumNamed<ConsistencyForm>(formNames, name);
  const auto malformed = [&](const std::string &expected) {
    return Status::badInput("expected " + expected + ", got '" + text.str() + "'");
  };
  if (!form || *form == ConsistencyForm::bsp)
    return malformed(consistencyForms());
  ConsistencyNumbers n{*form};
  if (*form == ConsistencyForm::diloco)
    n.rate = 0.7, n.momentum = 0.9;
  const ConsistencyRow &row = consistencyRow(*form);
  const llvm::SmallVector<Slot> slots = slotsOf(n);
  llvm::SmallVector<StringRef> parts;
  if (text.contains(':'))
    rest.split(parts, ',');
  if (parts.size() != row.required && parts.size() != slots.size())
    return malformed(std::string(row.usage));
  for (auto [part, slot] : llvm::zip(parts, slots))
    if (Status s = readSlot(part, slot); !s)
      return s.message().empty() ? malformed(std::string(row.usage))
                                 : Status::badInput("'" + text.str() + "': " + s.message());
  const std::string reason = whyNot(n);
  if (!reason.empty())
    return Status::badInput("'" + text.str() + "': " + reason);
  return ConsistencyAttr::get(context, n.form, n.period, n.fragments, n.delay, n.mix, n.rate,
                              n.momentum, n.lower, n.upper, n.variant, n.rho);
}

std::string consistencyText(ConsistencyAttr c) {
  if (!c)
    return "bsp";
  ConsistencyNumbers n{c.getForm(),  c.getPeriod(),  c.getFragments(), c.getDelay(),
                       c.getMix(),   c.getRate(),    c.getMomentum(),  c.getLower(),
                       c.getUpper(), c.getVariant(), c.getRho()};
  llvm::SmallVector<std::string> parts;
  for (const Slot &slot : slotsOf(n))
    if (auto *const *steps = std::get_if<std::int64_t *>(&slot.place))
      parts.push_back(std::to_string(**steps));
    else if (auto *const *real = std::get_if<double *>(&slot.place))
      parts.push_back(shortest(**real));
    else
      parts.emplace_back(variantName(*std::get<EasgdVariant *>(slot.place)));
  return std::string(formName(n.form)) + (parts.empty() ? "" : ":") + llvm::join(parts, ",");
}

cluster::SpecAttr gradientCluster(ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  auto problem = firstOf<ProblemOp>(module);
  return spec && problem && problem.getConsistency() ? ofOneRank(spec) : spec;
}

cluster::SpecAttr exchangeCluster(cluster::SpecAttr spec, ConsistencyAttr consistency) {
  cluster::ServersAttr servers = spec.getServers();
  if (consistency.getForm() != ConsistencyForm::easgd ||
      consistency.getVariant() != EasgdVariant::original || !servers || !servers.getDedicated())
    return spec;
  cluster::SpecFields fields(ofOneRank(spec));
  fields.servers = servers;
  fields.largestMessage = spec.getLargestMessage();
  return fields.get(spec.getContext());
}

cluster::SpecAttr ofOneRank(cluster::SpecAttr spec) {
  MLIRContext *context = spec.getContext();
  cluster::SpecFields fields(spec);
  const double slowdown = cluster::slowdown(spec);
  fields.setRanks(1);
  fields.devicesPerNode = fields.cardsPerNode = fields.groups = 1;
  fields.link = cluster::slowestLink(spec);
  if (!fields.link) // C13 wants one, though a lone rank sends nothing
    fields.link = cluster::LinkAttr::get(context, 0.0, 1e-9, 0.0, {});
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

/// Reads one of `names`, from the first-th on.
template <typename Enum, std::size_t count>
static FailureOr<Enum> parseName(AsmParser &parser, StringRef what,
                                 const std::array<std::string_view, count> &names,
                                 std::size_t first) {
  StringRef name;
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  const std::optional<Enum> read = syncline::enumNamed<Enum>(names, name);
  if (read && static_cast<std::size_t>(*read) >= first)
    return *read;
  InFlightDiagnostic error = parser.emitError(place, "expected ") << what << ", one of ";
  llvm::interleaveComma(llvm::ArrayRef(names).drop_front(first), error,
                        [&](std::string_view known) { error << known; });
  return error << ", got '" << name << "'";
}

FailureOr<syncline::ConsistencyForm>
FieldParser<syncline::ConsistencyForm>::parse(AsmParser &parser) {
  return parseName<syncline::ConsistencyForm>(parser, "a form of consistency", syncline::formNames,
                                              1);
}

FailureOr<syncline::EasgdVariant> FieldParser<syncline::EasgdVariant>::parse(AsmParser &parser) {
  return parseName<syncline::EasgdVariant>(parser, "a variant of easgd", syncline::variantNames, 0);
}
