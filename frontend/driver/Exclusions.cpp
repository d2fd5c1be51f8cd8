// The table, and its two readers.
#include "frontend/driver/Exclusions.h"

#include "passes/candidates/Candidates.h"
#include "passes/solver/Planner.h"
#include "syncline/WirePrecision.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace syncline::driver {
namespace {

/// Something that a command line asks for.
struct Request {
  std::string_view text; ///< as the help writes it
  /// Whether it is asked for; null for an option that is given.
  bool (*holds)(const CompileOptions &) = nullptr;
  /// As the user has written it; null where that is `text`.
  std::string (*words)(const CompileOptions &) = nullptr;

  bool isAsked(const CompileOptions &options, const IsGiven &isGiven) const {
    return holds ? holds(options) : isGiven(std::string(text));
  }
  std::string in(const CompileOptions &options) const {
    return "'" + (words ? words(options) : std::string(text)) + "'";
  }
};

struct Exclusion {
  Request one;
  std::vector<Request> others;
  std::string_view why;
};

/// Whether messages reach into the next step, as those of a planner of orders do.
bool ordersMessages(const CompileOptions &options) {
  const auto planner = solver::parsePlanner(options.planner);
  return planner && candidates::overlapFor(**planner, options.overlap) == "step";
}

const Request trace{"a layer trace", [](const CompileOptions &o) { return isTrace(o.model); },
                    [](const CompileOptions &o) { return "the layer trace " + o.model; }};
const Request weights{"--consistency other than bsp",
                      [](const CompileOptions &o) { return o.consistency != "bsp"; },
                      [](const CompileOptions &o) { return "--consistency " + o.consistency; }};
const Request ordered{"--overlap step, or a planner of orders", ordersMessages,
                      [](const CompileOptions &o) {
                        return o.overlap == "step" ? "--overlap step" : "--planner " + o.planner;
                      }};
const Request otherPlanner{"--planner other than optimal",
                           [](const CompileOptions &o) { return o.planner != "optimal"; },
                           [](const CompileOptions &o) { return "--planner " + o.planner; }};
const Request otherOptimizer{"--optimizer other than sgd",
                             [](const CompileOptions &o) { return o.optimizer != "sgd"; },
                             [](const CompileOptions &o) { return "--optimizer " + o.optimizer; }};
const Request rounded{
    "--wire other than fp32",
    [](const CompileOptions &o) { return o.wire != wireName(WirePrecision::fp32); },
    [](const CompileOptions &o) { return "--wire " + o.wire; }};
const Request channels{"--channels other than 1",
                       [](const CompileOptions &o) { return o.channels != "1"; },
                       [](const CompileOptions &o) { return "--channels " + o.channels; }};
const Request momentum{
    "--consistency easgd:momentum",
    [](const CompileOptions &o) { return o.consistency.starts_with("easgd:momentum,"); },
    [](const CompileOptions &o) { return "--consistency " + o.consistency; }};
const Request overlapStep{"--overlap step",
                          [](const CompileOptions &o) { return o.overlap == "step"; }};
const Request inParts{"--split-tied always",
                      [](const CompileOptions &o) { return o.splitTied == "always"; }};
const Request several{"--accumulate", [](const CompileOptions &o) { return o.accumulate != 1; }};
const Request classes{"--classes-in",
                      [](const CompileOptions &o) { return o.classesIn != "auto"; }};
const Request otherLoss{
    "--loss other than cross-entropy",
    [](const CompileOptions &o) { return !o.loss.starts_with("cross-entropy"); },
    [](const CompileOptions &o) { return "--loss " + o.loss; }};
const Request modelLoss{"--loss output:NAME",
                        [](const CompileOptions &o) { return o.loss.starts_with("output:"); },
                        [](const CompileOptions &o) { return "--loss " + o.loss; }};
const Request sizes{"--dim with several sizes",
                    [](const CompileOptions &o) { return !o.sizes.empty(); },
                    [](const CompileOptions &o) { return "--dim " + o.varied + "=.."; }};
const Request balance{"--balance", [](const CompileOptions &o) { return o.balance; }};
const Request gpus{"--backend cuda", [](const CompileOptions &o) { return o.backend == "cuda"; },
                   [](const CompileOptions &o) -> std::string {
                     return o.followsCluster ? "a cluster of GPUs" : "--backend cuda";
                   }};
const Request tf32{"--precision tf32",
                   [](const CompileOptions &o) { return o.precision == "tf32" && !o.planOnly; }};
const Request cpu{"--backend cpu", [](const CompileOptions &o) { return o.backend == "cpu"; }};

const std::vector<Exclusion> &exclusions() {
  static const std::vector<Exclusion> table = {
      {trace,
       {{"--batch"},
        {"--loss"},
        {"--classes-in"},
        {"--loss-on"},
        {"--freeze"},
        {"--dropout"},
        {"--optimizer"},
        {"--clip-norm"},
        {"--precision"},
        {"--like"},
        {"--consistency"},
        {"--recompute"},
        {"--plan-only"},
        {"--dim"},
        {"--split-tied"},
        {"--batch-dimension"},
        {"--accumulate"},
        {"--balance"},
        {"--parameters"}},
       "a trace has layers in place of a model"},
      {{"--plan-only"},
       {{"--consistency"}, {"--recompute"}, {"--clip-norm"}, {"--split-tied"}, {"--accumulate"}},
       "such a plan has no program"},
      {trace, {{"--offers"}}, "its times are those of one device"},
      {{"--offers"},
       {{"--cluster"}, {"--output"}, {"--nodes"}, {"--profile"}, sizes, balance, weights},
       "each offer has a cluster of its own, and no plan is written"},
      {classes, {otherLoss}, "only a cross-entropy has classes"},
      {modelLoss, {{"--loss-on"}}, "the loss is that output"},
      {modelLoss, {sizes}, "such a loss would count what pads samples"},
      {tf32, {cpu}, "only GPUs have it"},
      {sizes,
       {gpus},
       "no GPU has run steps that share their parameters; one size does, or '--backend cpu'"},
      {sizes, {ordered}, "the next step may have another size"},
      {sizes, {weights}, "weights that travel belong to one step"},
      {sizes, {{"--profile"}, {"--recompute"}}, "it is for the step of one size"},
      {sizes, {{"--plan-only"}}, "such a plan has no program"},
      {sizes, {inParts}, "the sizes share what one plan decides"},
      {balance, {sizes}, "a folder has plans for one of both"},
      {balance, {gpus}, "no GPU has run steps that share their parameters; '--backend cpu' does"},
      {balance, {ordered, inParts}, "all batches share what one plan decides, of sums alone"},
      {balance, {weights}, "weights that travel are those of equal batches"},
      {balance, {modelLoss}, "it is computed of whole batches of one size"},
      {balance, {{"--profile"}, {"--recompute"}}, "it is for the step of one batch"},
      {balance, {{"--plan-only"}}, "such a plan has no program"},
      {weights,
       {{"--clip-norm"}},
       "each rank clips its own gradients, by the norm that 'syncline run' is given"},
      {ordered,
       {{"--clip-norm"}},
       "updates wait for the norm of all gradients, but messages reach into the next step"},
      {weights,
       {several},
       "weights travel, which no plan predicts for several batches; 'syncline run' takes the "
       "number"},
      {inParts,
       {several},
       "rows would be added to a gradient in each micro-batch, but the rest of it travels once a "
       "step"},
      {inParts, {weights}, "gradients stay on their rank"},
      {inParts, {ordered}, "both parts have one update, for which a step waits at its end"},
      {inParts, {otherPlanner}, "it follows a system that sends gradients whole"},
      {weights, {overlapStep}, "gradients that stay on their rank have nothing to hide"},
      {weights, {otherPlanner}, "no planner has gradients to merge"},
      {weights, {channels}, "weights have one channel of their own"},
      {weights, {rounded}, "weights travel in float32"},
      {momentum, {otherOptimizer}, "it is SGD with momentum"},
  };
  return table;
}

/// The options with which this form is compiled alone. Only gradients, which bsp has, can travel
/// beyond the backward pass.
CompileOptions asForm(const CompileOptions &options, const std::string &form) {
  CompileOptions one = options;
  one.consistency = form;
  one.forms = {form};
  if (options.overlap == "auto" && form != "bsp")
    one.overlap = "backward";
  return one;
}

Status checkForm(const CompileOptions &options, const IsGiven &isGiven) {
  for (const Exclusion &row : exclusions()) {
    if (!row.one.isAsked(options, isGiven))
      continue;
    for (const Request &other : row.others)
      if (other.isAsked(options, isGiven))
        return Status::error(ErrorKind::badUsage,
                             row.one.in(options) + " and " + other.in(options) +
                                 " exclude each other: " + std::string(row.why));
  }
  return Status::ok();
}

} // namespace

Status checkExclusions(const CompileOptions &options, const IsGiven &isGiven) {
  for (const std::string &form : options.forms)
    SYNCLINE_TRY(checkForm(asForm(options, form), isGiven));
  return Status::ok();
}

std::string exclusionText() {
  constexpr std::size_t columns = 100;
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> rows;
  for (const Exclusion &exclusion : exclusions()) {
    auto row = std::ranges::find(rows, exclusion.one.text, [](auto &known) { return known.first; });
    if (row == rows.end())
      row = rows.insert(row, {exclusion.one.text, {}});
    for (const Request &other : exclusion.others)
      row->second.push_back(other.text);
  }
  std::string text;
  for (const auto &[one, others] : rows) {
    std::string line = "  " + std::string(one) + ":";
    for (std::size_t i = 0; i < others.size(); ++i) {
      const std::string word = " " + std::string(others[i]) + (i + 1 < others.size() ? "," : "");
      if (line.size() + word.size() > columns) {
        text += line + "\n";
        line = "   ";
      }
      line += word;
    }
    text += line + "\n";
  }
  return text;
}

} // namespace syncline::driver
