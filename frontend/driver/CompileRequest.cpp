// Reads and checks what the command line names.
#include "frontend/driver/CompileRequest.h"

#include "codegen/step/StepTarget.h"
#include "frontend/driver/ChooseConsistency.h"
#include "frontend/driver/ClassWeights.h"
#include "frontend/driver/PrecisionOption.h"
#include "frontend/driver/Z3Planner.h"
#include "frontend/files/ClusterKinds.h"
#include "frontend/files/DeviceTable.h"
#include "frontend/files/TextFile.h"
#include "frontend/ir/ToAttr.h"
#include "frontend/report/PlanText.h"
#include "ir/cluster/Cluster.h"
#include "ir/cluster/SpecFields.h"
#include "ir/nn/NN.h"
#include "ir/sync/Consistency.h"
#include "passes/merge/RequestedSchemes.h"
#include "passes/solver/Planner.h"
#include "syncline/PlanConstants.h"

#include <filesystem>

using namespace mlir;

namespace syncline::driver {
namespace {

Result<std::shared_ptr<const solver::Planner>> findPlanner(const CompileOptions &options) {
  Result<std::shared_ptr<const solver::Planner>> planner = solver::parsePlanner(options.planner);
  if (planner && (*planner)->maxMessages())
    return z3Planner(**planner, z3Seconds);
  return planner;
}

Status checkSchemes(const CompileOptions &options) {
  for (const std::string &text : options.schemes)
    if (Result<merge::RequestedScheme> requested = merge::parseRequestedScheme(text); !requested)
      return Status::error(ErrorKind::badUsage, "--scheme: " + requested.status().message());
  return Status::ok();
}

/// Reads each form of `--consistency`.
Status checkForms(const CompileOptions &options, MLIRContext &context) {
  for (const std::string &form : options.forms)
    if (const auto read = sync::parseConsistency(form, &context); !read)
      return Status::error(ErrorKind::badUsage, "--consistency: " + read.status().message());
  return Status::ok();
}

} // namespace

Status expectFile(const std::string &path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    return Status::badInput(
        "'" + path + "': cannot open: " +
        (std::filesystem::is_directory(path, error) ? "is a directory" : "not a regular file"));
  return Status::ok();
}

namespace {

bool isDeviceOpen(const CompileOptions &options, const files::ClusterFile &cluster) {
  return !cluster.device.compute && !cluster.device.memory && options.profile.empty() &&
         !isTrace(options.model) && !codegen::findTarget(options.backend)->usesNccl;
}

/// Whose kernels GPUs are predicted by, until our own have run on one.
const std::string usualLike = "pytorch";

/// Takes the device of kind 'cpu'. What the file states beside rates stays.
void assumeDevice(files::DeviceRates &device) {
  const std::string_view kind = cluster::processorKind;
  const files::DeviceRates usual = *files::deviceKind(kind);
  device.compute = usual.compute;
  device.memory = usual.memory;
  if (device.launchOverhead == 0)
    device.launchOverhead = usual.launchOverhead;
  device.kind = kind;
}

/// The precisions of a kind, as messages list them: "fp32, fp16".
std::string peakNames(const files::DeviceKind &kind) {
  std::string names;
  for (const llvm::StringRef precision : nn::precisions)
    if (kind.peaks.contains(precision.str()))
      names += (names.empty() ? "" : ", ") + precision.str();
  return names;
}

/// Sets how fast the device is in the precision, from its kind and --like. A file that states rates
/// itself means them in every precision, and a processor runs our own kernels.
Status setKernels(const CompileOptions &options, CompileRequest &request) {
  files::DeviceRates &device = request.cluster.device;
  const std::string &precision = request.precision;
  const files::DeviceKind *kind = files::findDeviceKind(device.kind);
  const bool hasKernels = kind && kind->isGpu() && !device.statesRates;
  if (!hasKernels && !options.like.empty())
    return Status::badInput(
        "--like: expected a 'device.kind' that is a GPU's, " +
        (device.statesRates ? std::string("got rates that '") + options.cluster + "' states itself"
         : kind             ? "got '" + device.kind + "'"
                            : std::string("got none in '") + options.cluster + "'"));
  if (!kind || device.statesRates)
    return Status::ok();
  const auto peak = kind->peaks.find(precision);
  if (hasKernels && peak == kind->peaks.end() && !options.profile.empty())
    return Status::ok(); // the profile's times count
  if (hasKernels && peak == kind->peaks.end())
    return Status::badInput("--precision " + precision +
                            ": expected a kind of device that computes in it, got '" + kind->name +
                            "', which has " + peakNames(*kind));
  request.knowsPrecision = peak != kind->peaks.end();
  files::predictByKind(device, precision, options.like.empty() ? usualLike : options.like);
  return Status::ok();
}

/// Changes the number of nodes. Refuses where collectives have measured times, which hold for the
/// file's number of nodes only.
Status setNodes(const std::string &path, files::ClusterFile &cluster, std::int64_t nodes,
                MLIRContext *context) {
  if (nodes > maxRanks / cluster.devicesPerNode)
    return Status::badInput("--nodes: expected at most " + std::to_string(maxRanks) +
                            " ranks in all, got " + std::to_string(nodes) + " nodes with " +
                            std::to_string(cluster.devicesPerNode) + " each");
  const std::int64_t ranks = nodes * cluster.devicesPerNode;
  if (ranks == cluster.ranks)
    return Status::ok();
  for (const files::StatedCost &stated : cluster.collectives)
    if (!std::holds_alternative<files::FormulaCost>(stated.time))
      return Status::badInput("--nodes: '" + path + "' states the time of '" +
                              std::string(schemeName(stated.scheme)) + "' for " +
                              std::to_string(cluster.ranks) + " ranks, expected a formula");
  if (Status room =
          cluster::expectRoom(frontend::toAttr(cluster, context), ranks, "--nodes: '" + path + "'");
      !room)
    return room;
  cluster.ranks = ranks;
  return Status::ok();
}

/// Reads what --parameters names.
Result<frontend::ParameterList> readParameters(const std::string &path) {
  constexpr std::size_t limit = 64 << 20;
  SYNCLINE_TRY_GET(text, files::readTextFile(path, limit));
  SYNCLINE_TRY_GET(checked, files::checkText(*text, path));
  Result<frontend::ParameterList> list = frontend::parseParameterList(*checked);
  return list ? std::move(list)
              : Status::badInput(report::printable("'" + path + "': " + list.status().message()));
}

Result<frontend::ImportOptions> importOptions(const CompileOptions &options) {
  frontend::ImportOptions import;
  import.batch = options.batch;
  import.dimensions = options.dimensions;
  import.batchDimensions = options.batchDimensions;
  SYNCLINE_TRY_GET(loss, TrainedLoss::parse(options.loss));
  import.loss = *loss;
  if (!import.loss.weightsFrom.empty()) {
    SYNCLINE_TRY_GET(weights, readClassWeights(import.loss.weightsFrom));
    import.loss.classWeights = std::move(*weights);
  }
  if (options.classesIn != "auto")
    import.classesIn =
        options.classesIn == "1" ? frontend::ClassesIn::second : frontend::ClassesIn::last;
  import.freeze = options.freeze;
  if (!options.parameters.empty()) {
    SYNCLINE_TRY_GET(list, readParameters(options.parameters));
    import.parameters = std::move(*list);
  }
  import.dropout = options.dropout;
  import.shapesSuffice = options.planOnly;
  import.onCuda = options.backend == "cuda" && !options.planOnly;
  import.output = options.modelOutput;
  return import;
}

/// What is asked of the plan, and what is left open.
candidates::Request planRequest(const CompileOptions &options,
                                std::shared_ptr<const solver::Planner> planner) {
  candidates::Request request;
  request.opensOverlap = options.overlap == "auto";
  request.opensChannels = options.channels == "auto";
  request.opensSplit = options.splitTied == "auto";
  request.recomputesToFit = options.recomputesToFit();
  candidates::Candidate &asked = request.asked;
  asked.planner = std::move(planner);
  asked.requested = options.schemes;
  if (!request.opensOverlap)
    asked.overlap = options.overlap;
  if (!request.opensChannels)
    asked.channels = std::stoi(options.channels);
  asked.splitTied = options.splitTied == "always";
  asked.consistency = options.consistency;
  asked.clipNorm = options.clipNorm.value_or(0);
  asked.accumulate = options.accumulate;
  if (!request.recomputesToFit)
    asked.recompute = options.recompute;
  return request;
}

} // namespace

Result<CompileRequest> readRequest(const CompileOptions &options, MLIRContext &context) {
  SYNCLINE_TRY_GET(planner, findPlanner(options));
  SYNCLINE_TRY(checkSchemes(options));
  SYNCLINE_TRY(checkForms(options, context));
  for (const std::string &path :
       {options.model, options.cluster, options.profile, options.parameters})
    SYNCLINE_TRY(expectFile(path));
  CompileRequest request;
  request.paths = {options.model, options.cluster, options.profile};
  request.plan = planRequest(options, *planner);
  if (isAutoConsistency(options.consistency))
    request.openForms = options.forms;
  request.optimizer = *parseOptimizer(options.optimizer);
  request.wire = options.wire;
  request.backend = options.backend;
  SYNCLINE_TRY_GET(cluster, options.read ? Result<files::ClusterFile>(*options.read)
                                         : files::readClusterFile(options.cluster));
  request.assumesDevice = isDeviceOpen(options, *cluster);
  if (request.assumesDevice)
    assumeDevice(cluster->device);
  if (options.nodes)
    SYNCLINE_TRY(setNodes(options.cluster, *cluster, *options.nodes, &context));
  request.cluster = std::move(*cluster);
  if (!options.profile.empty()) {
    SYNCLINE_TRY_GET(profile, files::readProfile(options.profile));
    request.profile = std::move(*profile);
  }
  request.precision =
      precisionFor(options.precision, request.profile ? request.profile->precision : "",
                   options.backend, request.cluster.device.kind);
  if (request.precision == "fp16" && !options.planOnly)
    return Status::badInput("--precision fp16: expected --plan-only beside it, since no backend "
                            "computes in fp16");
  SYNCLINE_TRY(setKernels(options, request));
  SYNCLINE_TRY_GET(import, importOptions(options));
  request.import = std::move(*import);
  return request;
}

} // namespace syncline::driver
