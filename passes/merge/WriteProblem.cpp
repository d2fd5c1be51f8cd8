// Writes problems and solutions.
#include "passes/merge/WriteProblem.h"

#include "ir/sync/Cases.h"
#include "passes/cost/CollectiveTime.h"

using namespace mlir;
using namespace syncline;
using namespace syncline::merge;

/// A limit as an optional parameter.
static std::optional<std::int64_t> limitOf(std::int64_t bytes) {
  return bytes == problem::unlimited ? std::nullopt : std::optional(bytes);
}

sync::MergeClassAttr syncline::merge::mergeClassAttr(MLIRContext *context,
                                                     const problem::MergeClass &mergeClass) {
  llvm::SmallVector<sync::OptionAttr> options;
  const auto lost = [&](const std::shared_ptr<const problem::CollectiveCost> &cost) {
    return cost ? cost::costAttr(context, *cost) : Attribute();
  };
  for (const problem::SchemeOption &option : mergeClass.options)
    options.push_back(sync::OptionAttr::get(
        context, option.scheme, cost::costAttr(context, *option.cost), option.traffic,
        lost(option.lost), lost(option.lostBy[problem::WorkClass::products]),
        lost(option.lostBy[problem::WorkClass::memory])));
  return sync::MergeClassAttr::get(context, options, limitOf(mergeClass.largestMessage),
                                   limitOf(mergeClass.capacity));
}

sync::FactorOptionAttr syncline::merge::factorOptionAttr(MLIRContext *context, std::size_t layer,
                                                         const problem::FactorOption &option) {
  const auto unlessZero = [](double seconds) {
    return seconds > 0 ? std::optional<cluster::Real>(seconds) : std::nullopt;
  };
  return sync::FactorOptionAttr::get(
      context, static_cast<std::int64_t>(layer), option.scheme, option.seconds, option.reconstruct,
      option.traffic, option.factorBytes > 0 ? std::optional(option.factorBytes) : std::nullopt,
      unlessZero(option.lost), unlessZero(option.lostBy[problem::WorkClass::products]),
      unlessZero(option.lostBy[problem::WorkClass::memory]));
}

static sync::TimesAttr timesAttr(OpBuilder &builder, llvm::ArrayRef<double> seconds) {
  return sync::TimesAttr::get(builder.getContext(),
                              llvm::SmallVector<cluster::Real>(seconds.begin(), seconds.end()));
}

/// The ends of spans one after the other; null where operations' classes do not matter.
static sync::TimesAttr spansAttr(OpBuilder &builder,
                                 const std::optional<std::vector<problem::WorkSpan>> &spans) {
  if (!spans)
    return {};
  llvm::SmallVector<double> ends;
  for (const problem::WorkSpan &span : *spans)
    ends.append({span.begin, span.end});
  return timesAttr(builder, ends);
}

namespace {

/// The attributes of a problem's layers; each list counts layers from zero.
struct LayerAttrs {
  llvm::SmallVector<StringRef> names;
  llvm::SmallVector<std::int64_t> bytes;
  llvm::SmallVector<double> ready, updating;
  llvm::SmallVector<std::int64_t> mergeClasses; ///< sets of them
  llvm::SmallVector<Attribute> factorOptions;
  llvm::SmallVector<std::int64_t> piggybacks; ///< pairs: a piggyback, then its carrier

  LayerAttrs(MLIRContext *context, const Instance &instance) {
    for (const cost::ReadyGradient &gradient : instance.timeline.gradients) {
      names.push_back(gradient.name);
      updating.push_back(gradient.updating);
    }
    for (auto [k, layer] : llvm::enumerate(instance.problem.layers)) {
      bytes.push_back(layer.bytes);
      ready.push_back(layer.ready);
      mergeClasses.push_back(layer.mergeClasses);
      for (const problem::FactorOption &option : layer.factorOptions)
        factorOptions.push_back(factorOptionAttr(context, k, option));
      if (layer.carrier)
        piggybacks.append(
            {static_cast<std::int64_t>(k), static_cast<std::int64_t>(*layer.carrier)});
    }
  }
};

} // namespace

sync::ProblemOp syncline::merge::createProblem(OpBuilder &builder, Location place,
                                               const Instance &instance,
                                               llvm::ArrayRef<StringRef> requested, bool hasTails) {
  const LayerAttrs layers(builder.getContext(), instance);
  llvm::SmallVector<Attribute> mergeClasses;
  for (const problem::MergeClass &mergeClass : instance.problem.mergeClasses)
    mergeClasses.push_back(mergeClassAttr(builder.getContext(), mergeClass));
  const std::int64_t every = (std::int64_t{1} << mergeClasses.size()) - 1;
  const bool isRestricted =
      llvm::any_of(layers.mergeClasses, [&](std::int64_t s) { return s != every; });
  return builder.create<sync::ProblemOp>(
      place, builder.getStringAttr("merge"), builder.getStrArrayAttr(layers.names),
      builder.getDenseI64ArrayAttr(layers.bytes), timesAttr(builder, layers.ready),
      builder.getArrayAttr(mergeClasses),
      layers.factorOptions.empty() ? ArrayAttr() : builder.getArrayAttr(layers.factorOptions),
      layers.piggybacks.empty() ? DenseI64ArrayAttr()
                                : builder.getDenseI64ArrayAttr(layers.piggybacks),
      isRestricted ? builder.getDenseI64ArrayAttr(layers.mergeClasses) : DenseI64ArrayAttr(),
      requested.empty() ? ArrayAttr() : builder.getStrArrayAttr(requested),
      builder.getF64FloatAttr(instance.timeline.forward),
      builder.getF64FloatAttr(instance.timeline.backwardEnd),
      builder.getF64FloatAttr(instance.timeline.updates),
      hasTails ? timesAttr(builder, cost::tailsOf(instance.timeline)) : sync::TimesAttr(),
      hasTails ? timesAttr(builder, layers.updating) : sync::TimesAttr(),
      spansAttr(builder, instance.problem.memoryBound), sync::ConsistencyAttr());
}

static Attribute proofAttr(OpBuilder &builder, const problem::BoundProof &proof) {
  if (const auto *times = std::get_if<problem::MergeCertificate>(&proof))
    return timesAttr(builder, times->earliestFinish);
  llvm::SmallVector<sync::RelaxationRow> rows;
  for (const problem::Relaxation &relaxation : std::get<problem::Certificate>(proof).relaxations) {
    sync::RelaxationRow row{relaxation.channelWeight, relaxation.heldWeight, {}};
    for (std::size_t mergeClass = 0; mergeClass < problem::maxMergeClasses; ++mergeClass)
      row.lines[mergeClass] = {relaxation.lines[mergeClass].latency,
                               relaxation.lines[mergeClass].secondsPerByte};
    rows.push_back(row);
  }
  return sync::RelaxationsAttr::get(builder.getContext(), rows);
}

static sync::MessageAttr messageAttr(MLIRContext *context, const problem::Problem &problem,
                                     const problem::Solution &solution,
                                     const problem::Message &message) {
  std::optional<std::int64_t> mergeClass;
  if (!message.isFactors)
    mergeClass = static_cast<std::int64_t>(message.mergeClass);
  std::optional<cluster::Real> reconstructed;
  if (message.reconstructed != message.end)
    reconstructed = message.reconstructed;
  llvm::SmallVector<std::int64_t> cut;
  if (message.cutBefore != 0 || message.cutBehind != 0)
    cut = {message.cutBefore, message.cutBehind};
  sync::GatherAttr gather;
  if (message.gather)
    gather = sync::GatherAttr::get(context, static_cast<std::int64_t>(message.gather->place),
                                   message.gather->start, message.gather->end);
  return sync::MessageAttr::get(
      context, llvm::SmallVector<std::int64_t>(message.layers.begin(), message.layers.end()),
      solution.scheme(problem, message), mergeClass, message.bytes, cut, message.channel,
      message.ready, message.start, message.end, reconstructed, gather);
}

static sync::OrderAttr proofAttr(OpBuilder &builder, const problem::Problem &problem,
                                 const problem::OrderCertificate &certificate) {
  llvm::SmallVector<cluster::Real> lines;
  for (std::size_t l = 0; l < problem.mergeClasses.size(); ++l)
    lines.append({certificate.lines[l].latency, certificate.lines[l].secondsPerByte});
  std::optional<cluster::Real> weight;
  if (certificate.channelWeight != 1)
    weight = certificate.channelWeight;
  return sync::OrderAttr::get(builder.getContext(), weight, certificate.ready, certificate.tail,
                              lines);
}

/// The attribute `cases` of a solution.
static ArrayAttr casesOf(OpBuilder &builder, const problem::Problem &problem,
                         const problem::OrderCertificate &certificate) {
  if (certificate.cases.empty())
    return builder.getArrayAttr(
        {builder.getF64FloatAttr(certificate.bound), proofAttr(builder, problem, certificate)});
  llvm::SmallVector<Attribute> row = {
      builder.getI64IntegerAttr(static_cast<std::int64_t>(certificate.splits))};
  if (certificate.other)
    row.push_back(builder.getI64IntegerAttr(static_cast<std::int64_t>(*certificate.other)));
  for (const problem::OrderCertificate &one : certificate.cases)
    row.push_back(casesOf(builder, problem, one));
  return builder.getArrayAttr(row);
}

/// The case that proves least.
static const problem::OrderCertificate &weakestOf(const problem::OrderCertificate &certificate) {
  if (certificate.cases.empty())
    return certificate;
  const bool isFirst = certificate.cases[0].bound <= certificate.cases[1].bound;
  return weakestOf(certificate.cases[isFirst ? 0 : 1]);
}

static sync::SolutionOp createSolution(OpBuilder &builder, sync::ProblemOp op,
                                       const problem::Problem &problem, StringRef planner,
                                       const problem::Solution &solution, Attribute proof,
                                       double bound) {
  llvm::SmallVector<Attribute> messages;
  for (const problem::Message &message : solution.messages)
    messages.push_back(messageAttr(builder.getContext(), problem, solution, message));
  DenseI64ArrayAttr piggybacks;
  if (!solution.piggybacks.empty())
    piggybacks = builder.getDenseI64ArrayAttr(
        llvm::SmallVector<std::int64_t>(solution.piggybacks.begin(), solution.piggybacks.end()));
  return builder.create<sync::SolutionOp>(
      op.getLoc(), FlatSymbolRefAttr::get(op.getSymNameAttr()), builder.getStringAttr(planner),
      builder.getArrayAttr(messages), piggybacks, builder.getF64FloatAttr(solution.finish),
      builder.getF64FloatAttr(bound), proof, /*cases=*/ArrayAttr());
}

sync::SolutionOp syncline::merge::createSolution(OpBuilder &builder, sync::ProblemOp op,
                                                 const problem::Problem &problem, StringRef planner,
                                                 const problem::Solution &solution,
                                                 const problem::BoundProof &proof, double bound) {
  return ::createSolution(builder, op, problem, planner, solution, proofAttr(builder, proof),
                          bound);
}

sync::SolutionOp syncline::merge::createSolution(OpBuilder &builder, sync::ProblemOp op,
                                                 const problem::Problem &problem, StringRef planner,
                                                 const problem::Solution &messages,
                                                 const problem::OrderCertificate &certificate) {
  sync::SolutionOp solution =
      ::createSolution(builder, op, problem, planner, messages,
                       proofAttr(builder, problem, weakestOf(certificate)), certificate.bound);
  if (!certificate.cases.empty())
    solution.setCasesAttr(casesOf(builder, problem, certificate));
  return solution;
}

void syncline::merge::takeTurns(sync::SolutionOp solution, int channels) {
  llvm::SmallVector<Attribute> messages;
  for (auto message : solution.getMessages().getAsRange<sync::MessageAttr>())
    messages.push_back(sync::MessageAttr::get(
        solution.getContext(), message.getLayers(), message.getScheme(), message.getMergeClass(),
        message.getBytes(), message.getCut(), static_cast<std::int64_t>(messages.size()) % channels,
        message.getReady(), message.getStart(), message.getEnd(), message.getReconstructed(),
        message.getGather()));
  solution.setMessagesAttr(ArrayAttr::get(solution.getContext(), messages));
}
