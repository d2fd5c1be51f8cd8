// Splits the samples of a step among unequal ranks, and plans for each batch by common decisions.
#include "frontend/driver/CompileBalanced.h"

#include "codegen/folder/PlanFolder.h"
#include "frontend/driver/CompileNotes.h"
#include "frontend/driver/PlanAsked.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PrepareModel.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/files/Paths.h"
#include "frontend/report/BatchesTable.h"
#include "frontend/report/Closing.h"
#include "ir/cluster/Cluster.h"
#include "ir/plan/Plan.h"
#include "passes/Diagnostics.h"
#include "passes/candidates/ChooseCommon.h"
#include "passes/candidates/SplitBatch.h"
#include "passes/solver/Planner.h"
#include "syncline/PlanFiles.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

using namespace mlir;

namespace syncline::driver {
namespace {

cluster::SpecAttr specOf(ModuleOp module) {
  return module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
}

/// One compilation; its steps are called in the order in which they stand here.
class Balanced {
public:
  explicit Balanced(const CompileOptions &options) : options(options) {
    this->options.overlap = "backward";
    this->options.balance = false;
  }

  /// Nothing where all ranks are to have equal batches.
  Result<bool> split() {
    SYNCLINE_TRY_GET(equal, prepare(*options.batch, /*says=*/false));
    spec = specOf(*equal->module);
    batches.slowdowns = candidates::slowdownsOf(spec);
    batches.equal = *options.batch;
    const std::int64_t all = *options.batch * spec.getRanks();
    batches.ofRanks.assign(batches.slowdowns.size(), *options.batch);
    if (std::ranges::all_of(batches.slowdowns,
                            [&](double one) { return one == batches.slowdowns.front(); }))
      return false;
    SYNCLINE_TRY(timeSamples(all));
    const candidates::ComputeTime time{batches.fixed, batches.perSample};
    const auto best = candidates::splitBatch(time, batches.slowdowns, all);
    if (candidates::isBestSplit(time, batches.slowdowns, batches.ofRanks))
      return false;
    batches.ofRanks = best;
    const std::set<std::int64_t> distinct(best.begin(), best.end());
    sizes.assign(distinct.begin(), distinct.end());
    if (sizes.size() > maxLengths)
      return Status::badInput("--balance: '" + options.cluster + "' asks for " +
                              std::to_string(sizes.size()) +
                              " different batches, expected at most " + std::to_string(maxLengths) +
                              "; nodes of fewer speeds, or a smaller --batch, need fewer");
    return predictEqual(*equal);
  }

  /// Plans all batches and writes the folder.
  Status plan() {
    std::vector<PreparedModel> models;
    std::vector<ModuleOp> modules;
    for (const std::int64_t size : sizes) {
      SYNCLINE_TRY_GET(model, prepare(size, /*says=*/size == sizes.back()));
      (*model->module)
          ->setAttr(cluster::specAttr,
                    candidates::asBalanced(spec, {batches.fixed, batches.perSample},
                                           batches.slowdowns, batches.ofRanks, size));
      models.push_back(std::move(*model));
      modules.push_back(*models.back().module);
    }
    const CompileRequest &request = models.back().request;
    candidates::Request asked = request.plan;
    asked.opensSplit = false;
    if (asked.asked.planner->isOptimal())
      asked.asked.planner = solver::sumsPlanner();
    SYNCLINE_TRY_GET(common,
                     candidates::chooseCommon(asked, modules, expectFits(request.paths), enter));
    SYNCLINE_TRY(expectSums(*common->plans.back().plan));
    SYNCLINE_TRY_GET(written, write(models, *common));
    progress.reset();
    return options.quiet ? Status::ok() : note(models.back(), *written);
  }

private:
  Result<PreparedModel> prepare(std::int64_t batch, bool says) {
    CompileOptions one = options;
    one.batch = batch;
    Result<PreparedModel> model = prepareModel(one, context, *progress, says);
    if (!model && batch != *options.batch)
      return Status::error(model.status().kind(), "--balance, batch " + std::to_string(batch) +
                                                      ": " + model.status().message());
    return model;
  }

  /// Predicts the step's operations for two batches near those that ranks will have.
  Status timeSamples(std::int64_t all) {
    double speeds = 0;
    for (const double slowdown : batches.slowdowns)
      speeds += 1 / slowdown;
    const auto [fastest, slowest] = std::ranges::minmax(batches.slowdowns);
    const double each = static_cast<double>(all) / speeds;
    const auto less = std::max<std::int64_t>(1, std::int64_t(std::floor(each / slowest)));
    const auto more = std::max(less + 1, std::int64_t(std::ceil(each / fastest)));
    double seconds[2];
    for (const int i : {0, 1}) {
      SYNCLINE_TRY_GET(model, prepare(i == 0 ? less : more, /*says=*/false));
      SYNCLINE_TRY_GET(
          taken, candidates::computeSeconds(model->request.plan.asked, *model->module, enter));
      seconds[i] = *taken;
    }
    batches.perSample = (seconds[1] - seconds[0]) / static_cast<double>(more - less);
    if (!(batches.perSample > 0))
      return Status::badInput("--balance: the cluster file's rates predict no longer step for " +
                              std::to_string(more) + " samples than for " + std::to_string(less));
    batches.fixed = std::max(0.0, seconds[0] - batches.perSample * static_cast<double>(less));
    return Status::ok();
  }

  /// Plans what there would be without balance.
  Result<bool> predictEqual(const PreparedModel &equal) {
    SYNCLINE_TRY_GET(choice,
                     planAsked(equal.request.plan, equal.request.paths, *equal.module, enter));
    batches.equalStep = candidates::stepOf(*choice->plan);
    return true;
  }

  /// Refuses a plan in which ranks gather what they have computed.
  Status expectSums(ModuleOp plan) const {
    for (auto program : plan.getOps<plan::ProgramOp>())
      for (auto bucket : program.getOps<plan::BucketOp>())
        if (isGathered(bucket.getScheme()))
          return Status::badInput("--balance: '" +
                                  cast<StringAttr>(bucket.getMembers()[0]).getValue().str() +
                                  "' travels by " + std::string(schemeName(bucket.getScheme())) +
                                  ", of which ranks of unequal batches would have unequal parts");
    return Status::ok();
  }

  Result<std::vector<nlohmann::json>> write(std::vector<PreparedModel> &models,
                                            const candidates::CommonChoice &common) {
    DiagnosticCollector diagnostics(&context);
    const auto sourcesOf = [&](std::size_t i) {
      return codegen::PlanSources{*common.plans[i].plan, models[i].info, files::runtimeIncludes(),
                                  models[i].files, enter};
    };
    codegen::SmallerPlans smaller{.dimension = std::string(codegen::batchDimension),
                                  .largest = sizes.back(),
                                  .batches = batches};
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
      smaller.plans.emplace_back(sizes[i], sourcesOf(i));
    return codegen::writePlans(options.output, sourcesOf(sizes.size() - 1), smaller);
  }

  Status note(const PreparedModel &model, const std::vector<nlohmann::json> &written) const {
    if (model.request.assumesDevice)
      noteAssumedDevice();
    SYNCLINE_TRY_GET(text, report::balanceText(batches, written.back()));
    std::fprintf(stderr, "syncline: %s\n", text->c_str());
    if (!model.inventory.empty())
      std::fprintf(stderr, "syncline: %s\n", model.inventory.c_str());
    Result<std::string> closing = report::compileClosing(written.back(), options.output);
    if (closing)
      std::fputs(closing->c_str(), stderr);
    return closing.status();
  }

  CompileOptions options;
  PlanContext context;
  std::optional<CompileProgress> progress{std::in_place, /*isShown=*/!options.quiet};
  const EnterPhase enter = [this](const std::string &phase) { progress->enter(phase); };
  cluster::SpecAttr spec; ///< with the slowdowns of the cluster file
  codegen::RankBatches batches;
  std::vector<std::int64_t> sizes; ///< ascending
};

} // namespace

Status compileBalanced(const CompileOptions &options) {
  if (!options.batch)
    return Status::error(ErrorKind::badUsage,
                         "--balance: expected the mean samples per rank, '--batch K'");
  {
    Balanced balanced(options);
    SYNCLINE_TRY_GET(isUnequal, balanced.split());
    if (*isUnequal)
      return balanced.plan();
  }
  CompileOptions plain = options;
  plain.balance = false;
  if (!options.quiet)
    std::fprintf(stderr,
                 "syncline: note: --balance: nothing to balance: no other batches than %lld "
                 "for each rank shorten the step of '%s'\n",
                 static_cast<long long>(*options.batch), options.cluster.c_str());
  return compile(plain);
}

} // namespace syncline::driver
