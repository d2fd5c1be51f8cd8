// A model's layers with their times, from a profile, from kernels or from the roofline.
#include "frontend/driver/ModelTrace.h"

#include "frontend/driver/CompileNotes.h"
#include "frontend/files/Profile.h"
#include "frontend/ir/ToAttr.h"
#include "frontend/onnx/ImportLayers.h"
#include "passes/cost/CostModel.h"
#include "passes/cost/StepKernels.h"

#include <cstdio>
#include <map>
#include <set>

using namespace mlir;

namespace syncline::driver {
namespace {

constexpr double singleBytes = 4; ///< of a value that Work counts

class Timing {
public:
  Timing(const CompileRequest &request, cluster::DeviceAttr device)
      : paths(request.paths), optimizer(request.optimizer), profile(request.profile),
        precision(*cost::parsePrecision(request.precision)), device(device) {
    if (device && device.getKernels())
      kernels = cost::numbersOf(device.getKernels());
  }

  Result<files::LayerTrace> time(const frontend::ModelLayers &model) {
    SYNCLINE_TRY(checkProfile(model));
    files::LayerTrace trace;
    std::set<std::string> nodes; // with a layer of their own, each before its parameters
    for (const frontend::ModelLayer &layer : model.layers) {
      if (layer.name == layer.node)
        nodes.insert(layer.node);
      SYNCLINE_TRY_GET(forward, seconds(layer, layer.forward));
      SYNCLINE_TRY_GET(backward, seconds(layer, layer.backward));
      files::TraceLayer timed;
      timed.name = layer.name;
      timed.bytes = layer.bytes;
      timed.forward = *forward;
      timed.backward = *backward;
      const auto bytes = static_cast<double>(layer.bytes);
      timed.update =
          cost::updateSeconds(static_cast<double>(layer.elements), bytes, device,
                              profile ? profile->update : std::nullopt, optimizer, precision);
      timed.update = layer.bytes > 0 ? timed.update : 0;
      if (layer.name != layer.node && nodes.contains(layer.node))
        timed.reader = layer.node;
      if (layer.factors)
        timed.factors = {(*layer.factors)[0], (*layer.factors)[1], (*layer.factors)[2]};
      trace.layers.push_back(std::move(timed));
    }
    if (profile)
      measure(model, trace);
    return trace;
  }

private:
  bool isMeasured(const frontend::ModelLayer &layer) const {
    return profile && profile->operations.count(layer.node) != 0;
  }

  Status checkProfile(const frontend::ModelLayers &model) const {
    if (!profile)
      return Status::ok();
    if (profile->batch && *profile->batch != model.batch)
      return Status::badInput("'" + paths.profile + "' was measured with batch " +
                              std::to_string(*profile->batch) + ", expected " +
                              std::to_string(model.batch) + " as this plan's");
    for (const frontend::ModelLayer &layer : model.layers)
      if (isMeasured(layer))
        return Status::ok();
    return Status::badInput("'" + paths.profile + "': expected times of nodes of '" + paths.model +
                            "', got none of them");
  }

  /// Seconds by the device's kernels, or else by the roofline. Where the device has no rates, the
  /// bytes of a measured node stand in for its time.
  Result<double> seconds(const frontend::ModelLayer &layer,
                         const std::vector<frontend::Work> &work) const {
    double sum = 0;
    for (const frontend::Work &part : work)
      if (kernels)
        sum += cost::kernelSeconds(kernelOf(part), precision, *kernels);
      else if (auto time = cost::roofline({part.flops, part.bytes}, device))
        sum += *time;
      else if (isMeasured(layer))
        sum += part.bytes;
      else
        return Status::badInput("'" + paths.cluster +
                                "': expected a device with compute and "
                                "memory rates, or a profile with the node '" +
                                layer.node + "'");
    return sum;
  }

  /// The kernel that does the work. Classes that shapes do not tell apart count as pointwise.
  cost::Kernel kernelOf(const frontend::Work &work) const {
    const auto style = cost::KernelStyle::of(device.getKernels().getLike(), precision);
    cost::Kernel kernel{.kind = classOf(work),
                        .flops = work.flops,
                        .bytes = work.bytes * style.width() / singleBytes};
    if (work.kind == frontend::Work::Kind::pass || work.kind == frontend::Work::Kind::rows)
      return kernel;
    kernel.m = work.rows;
    kernel.n = work.columns;
    kernel.k = work.summands;
    (work.kind == frontend::Work::Kind::recurrent ? kernel.steps : kernel.batch) = work.count;
    if (work.kind == frontend::Work::Kind::convolution && style.hasChannelsFirst)
      kernel.layoutBytes = kernel.bytes;
    return kernel;
  }

  static cost::KernelClass classOf(const frontend::Work &work) {
    using enum frontend::Work::Kind;
    const bool isOne = work.count == 1;
    switch (work.kind) {
    case pass:
      return cost::KernelClass::pointwise;
    case product:
      return isOne ? cost::KernelClass::product : cost::KernelClass::batched;
    case convolution:
      return isOne               ? cost::KernelClass::convolution
             : work.columns == 1 ? cost::KernelClass::depthwise
                                 : cost::KernelClass::grouped;
    case recurrent:
      return cost::KernelClass::recurrent;
    case rows:
      return cost::KernelClass::embedding;
    }
    return cost::KernelClass::pointwise;
  }

  /// Divides a node's measured time among its layers, in proportion to their times by the roofline.
  void measure(const frontend::ModelLayers &model, files::LayerTrace &trace) const {
    std::map<std::string, double> forward, backward;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      forward[model.layers[i].node] += trace.layers[i].forward;
      backward[model.layers[i].node] += trace.layers[i].backward;
    }
    const auto share = [](double part, double whole, double measured, bool isNode) {
      return whole > 0 ? part / whole * measured : isNode ? measured : 0;
    };
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      const frontend::ModelLayer &layer = model.layers[i];
      const auto times = profile->operations.find(layer.node);
      if (times == profile->operations.end())
        continue;
      files::TraceLayer &timed = trace.layers[i];
      const bool isNode = layer.name == layer.node;
      timed.forward = share(timed.forward, forward[layer.node], times->second.forward, isNode);
      if (times->second.backward)
        timed.backward =
            share(timed.backward, backward[layer.node], *times->second.backward, isNode);
    }
  }

  const InputPaths &paths;
  OptimizerKind optimizer;
  const std::optional<files::Profile> &profile;
  cost::Precision precision;
  cluster::DeviceAttr device;
  std::optional<cost::DeviceNumbers> kernels; ///< of a GPU of a known kind
};

} // namespace

void printNotes(const std::vector<std::string> &notes, CompileProgress &progress) {
  if (!notes.empty())
    progress.hide();
  for (const std::string &note : notes)
    std::fprintf(stderr, "syncline: note: %s\n", note.c_str());
}

Result<files::LayerTrace> readModelTrace(const CompileRequest &request, MLIRContext &context,
                                         CompileProgress &progress, std::string &inventory) {
  SYNCLINE_TRY_GET(model, frontend::importLayers(request.paths.model, request.import, context));
  printNotes(model->notes, progress);
  inventory = inventoryText(model->inventory);
  cluster::DeviceAttr device = frontend::toAttr(request.cluster, &context).getDevice();
  return Timing(request, device).time(*model);
}

} // namespace syncline::driver
