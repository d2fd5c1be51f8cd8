// Plans a model for each offer, and compares.
#include "frontend/driver/CompileOffers.h"

#include "frontend/driver/BackendOption.h"
#include "frontend/driver/CompileNotes.h"
#include "frontend/driver/CompileProgress.h"
#include "frontend/driver/PlanAsked.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PrepareModel.h"
#include "frontend/driver/StepDoubt.h"
#include "frontend/files/OffersFile.h"
#include "frontend/files/Paths.h"
#include "frontend/report/OffersReport.h"
#include "frontend/sweep/SweepRun.h"
#include "ir/plan/RankMemory.h"
#include "passes/Diagnostics.h"
#include "runtime/launch/CliChecks.h"

#include <cstdio>
#include <filesystem>

using namespace mlir;

namespace syncline::driver {
namespace {

/// A path counts from the file of offers; a sample's name, or what is not there, from here.
std::string besideOffers(const std::string &offers, const std::string &cluster) {
  const std::filesystem::path beside = std::filesystem::path(offers).parent_path() / cluster;
  std::error_code error;
  return std::filesystem::is_regular_file(beside, error) ? beside.string() : cluster;
}

Status inOffer(const CompileOptions &options, const files::Offer &offer, const Status &status) {
  return Status::error(status.kind(),
                       "'" + options.offers + "': offer '" + offer.name + "': " + status.message());
}

Result<CompileOptions> optionsFor(const CompileOptions &options, const files::Offer &offer,
                                  const IsGiven &isGiven) {
  CompileOptions one = options;
  one.cluster = besideOffers(options.offers, offer.cluster);
  if (offer.nodes)
    one.nodes = offer.nodes;
  SYNCLINE_TRY(files::resolveCluster(one.cluster));
  SYNCLINE_TRY(settleBackend(one));
  SYNCLINE_TRY(checkExclusions(one, isGiven));
  return one;
}

/// The step with DDP's default buckets, which wait for their messages before the update; nothing
/// for one rank, and where DDP has no answer.
std::optional<double> ddpStep(const simulate::SimulatedPlan &plan) {
  constexpr double defaultBytes = 25 << 20;
  sweep::SweepOptions asDdp;
  asDdp.overlap = sweep::Overlap::backward;
  const sweep::SweepAxis axis{sweep::SweepAxis::Kind::bucket, defaultBytes, defaultBytes};
  if (plan.problem().cluster().getRanks() == 1)
    return std::nullopt;
  const auto swept = sweep::runSweep(plan, plan.problem().cluster(), axis, asDdp);
  return swept ? std::optional(swept->points.front().step) : std::nullopt;
}

/// The user's doubt, else what published runs say.
std::optional<report::StepDoubt> offersDoubt(const files::OffersFile &file,
                                             const files::DeviceRates &device) {
  return file.doubt ? report::StepDoubt{.share = *file.doubt} : doubtOf(device);
}

/// What the table says of a plan.
Result<report::PlannedOffer> offerOf(const files::OffersFile &file, const files::Offer &offer,
                                     const CompileRequest &request, ModuleOp module) {
  const files::DeviceRates &device = request.cluster.device;
  SYNCLINE_TRY_GET(plan, simulate::SimulatedPlan::create(module));
  if (!plan->samples())
    return Status::badInput("the model does not say how many samples a rank has");
  const plan::RankMemory memory = plan::rankMemory(module);
  report::PlannedOffer planned{.name = offer.name,
                               .device = device.kind,
                               .precision = request.precision,
                               .price = offer.price,
                               .memory = memory.needed,
                               .size = memory.size,
                               .hasActivations = memory.hasActivations,
                               .ddpStep = ddpStep(*plan),
                               .doubt = offersDoubt(file, device)};
  planned.rate = {plan->problem().cluster().getRanks(),
                  static_cast<double>(*plan->samples() * plan->microBatches()),
                  plan->predictedStep(), plan->aloneSeconds(1)};
  return planned;
}

/// Plans one offer. An error of `prepareModel` holds for the model, or names the offer's cluster.
Result<report::PlannedOffer> planOffer(const CompileOptions &options, const files::OffersFile &file,
                                       const files::Offer &offer, bool isFirst, Status &fatal) {
  PlanContext context;
  CompileProgress progress(/*isShown=*/!options.quiet);
  const auto enter = [&](const std::string &phase) { progress.enter(offer.name + ": " + phase); };
  Result<PreparedModel> model = prepareModel(options, context, progress, isFirst && !options.quiet);
  if (!model) {
    fatal = model.status();
    return fatal;
  }
  if (model->request.assumesDevice && !options.quiet)
    noteAssumedDevice(offer.name);
  DiagnosticCollector diagnostics(&context);
  SYNCLINE_TRY_GET(choice,
                   planAsked(model->request.plan, model->request.paths, *model->module, enter));
  return offerOf(file, offer, model->request, *choice->plan);
}

} // namespace

void addOffers(CLI::App &command, CompileOptions &options, CLI::Option *cluster,
               CLI::Option *output) {
  command
      .add_option_function<std::string>(
          "--offers",
          [&options, cluster, output](const std::string &file) {
            options.offers = file;
            for (CLI::Option *one : {cluster, output})
              one->required(false);
          },
          "Compare clusters with prices instead, in place of --cluster and -o: this file (YAML) "
          "says for how many samples and names clusters; prints time, memory and money of each, "
          "with ranges")
      ->trigger_on_parse()
      ->type_name("FILE")
      ->check(launch::someText())
      ->group("Inputs");
}

Status compileOffers(const CompileOptions &options, const IsGiven &isGiven) {
  SYNCLINE_TRY(expectFile(options.offers));
  SYNCLINE_TRY_GET(file, files::readOffers(options.offers));
  std::vector<CompileOptions> each;
  for (const files::Offer &offer : file->offers) {
    Result<CompileOptions> one = optionsFor(options, offer, isGiven);
    if (!one)
      return inOffer(options, offer, one.status());
    each.push_back(std::move(*one));
  }
  std::vector<report::PlannedOffer> planned;
  std::vector<report::LeftOutOffer> leftOut;
  for (std::size_t i = 0; i < each.size(); ++i) {
    const files::Offer &offer = file->offers[i];
    Status fatal = Status::ok();
    Result<report::PlannedOffer> one = planOffer(each[i], *file, offer, i == 0, fatal);
    if (!fatal && i == 0)
      return fatal; // as 'compile' has it: most often it is the model's
    if (!fatal || (!one && one.status().kind() != ErrorKind::badInput))
      return inOffer(options, offer, one.status());
    if (one)
      planned.push_back(std::move(*one));
    else
      leftOut.push_back({offer.name, one.status().message()});
  }
  if (planned.empty())
    return inOffer(options, file->offers.front(), Status::badInput(leftOut.front().reason));
  std::fputs(report::offersTable(std::move(planned), leftOut, file->samples).c_str(), stdout);
  return Status::ok();
}

} // namespace syncline::driver
