// A model's layers with their times, from a profile or from the roofline.
#include "frontend/driver/ModelTrace.h"

#include "frontend/driver/ClusterOption.h"
#include "frontend/driver/InventoryText.h"
#include "frontend/files/Profile.h"
#include "frontend/files/TextFile.h"
#include "frontend/ir/ToAttr.h"
#include "frontend/onnx/ImportLayers.h"
#include "frontend/report/PlanText.h"
#include "passes/cost/CostModel.h"

#include <cstdio>
#include <map>

using namespace mlir;

namespace syncline::driver {
namespace {

class Timing {
public:
  Timing(const CompileOptions &options, cluster::DeviceAttr device,
         std::optional<files::Profile> profile)
      : options(options), device(device), profile(std::move(profile)) {}

  Result<files::LayerTrace> time(const frontend::ModelLayers &model) {
    if (Status status = checkProfile(model); !status)
      return status;
    files::LayerTrace trace;
    for (const frontend::ModelLayer &layer : model.layers) {
      Result<double> forward = seconds(layer, layer.forward),
                     backward = seconds(layer, layer.backward);
      if (!forward || !backward)
        return forward ? backward.status() : forward.status();
      files::TraceLayer timed;
      timed.name = layer.name;
      timed.bytes = layer.bytes;
      timed.forward = *forward;
      timed.backward = *backward;
      const auto bytes = static_cast<double>(layer.bytes);
      timed.update = cost::updateSeconds(static_cast<double>(layer.elements), bytes, device,
                                         profile ? profile->update : std::nullopt,
                                         *parseOptimizer(options.optimizer));
      timed.update = layer.bytes > 0 ? timed.update : 0;
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
      return Status::badInput("'" + options.profile + "' was measured with batch " +
                              std::to_string(*profile->batch) + ", expected " +
                              std::to_string(model.batch) + " as this plan's");
    for (const frontend::ModelLayer &layer : model.layers)
      if (isMeasured(layer))
        return Status::ok();
    return Status::badInput("'" + options.profile + "': expected times of nodes of '" +
                            options.model + "', got none of them");
  }

  /// Seconds by the roofline. Where the device has no rates, the bytes of a measured node stand in
  /// for its time.
  Result<double> seconds(const frontend::ModelLayer &layer,
                         const std::vector<frontend::Work> &work) const {
    double sum = 0;
    for (const frontend::Work &part : work)
      if (auto time = cost::roofline({part.flops, part.bytes}, device))
        sum += *time;
      else if (isMeasured(layer))
        sum += part.bytes;
      else
        return Status::badInput("'" + options.cluster +
                                "': expected a device with compute and "
                                "memory rates, or a profile with the node '" +
                                layer.node + "'");
    return sum;
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

  const CompileOptions &options;
  cluster::DeviceAttr device;
  std::optional<files::Profile> profile;
};

} // namespace

/// Reads what --parameters names.
static Result<frontend::ParameterList> readParameters(const std::string &path) {
  constexpr std::size_t limit = 64 << 20;
  Result<std::string> text = files::readTextFile(path, limit);
  if (!text)
    return text.status();
  Result<std::string_view> checked = files::checkText(*text, path);
  if (!checked)
    return checked.status();
  Result<frontend::ParameterList> list = frontend::parseParameterList(*checked);
  return list ? std::move(list)
              : Status::badInput(report::printable("'" + path + "': " + list.status().message()));
}

Result<frontend::ImportOptions> importOptions(const CompileOptions &options) {
  frontend::ImportOptions import;
  import.batch = options.batch;
  import.dimensions = options.dimensions;
  import.batchDimensions = options.batchDimensions;
  import.loss = options.loss == "mse" ? nn::LossKind::mse : nn::LossKind::cross_entropy;
  if (options.classesIn != "auto")
    import.classesIn =
        options.classesIn == "1" ? frontend::ClassesIn::second : frontend::ClassesIn::last;
  import.freeze = options.freeze;
  if (!options.parameters.empty()) {
    Result<frontend::ParameterList> list = readParameters(options.parameters);
    if (!list)
      return list.status();
    import.parameters = std::move(*list);
  }
  import.dropout = options.dropout;
  import.shapesSuffice = options.planOnly;
  import.output = options.modelOutput;
  return import;
}

void printNotes(const std::vector<std::string> &notes, CompileProgress &progress) {
  if (!notes.empty())
    progress.hide();
  for (const std::string &note : notes)
    std::fprintf(stderr, "syncline: note: %s\n", note.c_str());
}

Result<files::LayerTrace> readModelTrace(const CompileOptions &options, MLIRContext &context,
                                         CompileProgress &progress, std::string &inventory) {
  Result<frontend::ImportOptions> import = importOptions(options);
  if (!import)
    return import.status();
  Result<frontend::ModelLayers> model = frontend::importLayers(options.model, *import, context);
  if (!model)
    return model.status();
  printNotes(model->notes, progress);
  inventory = inventoryText(model->inventory);
  Result<files::ClusterFile> cluster = readCluster(options);
  if (!cluster)
    return cluster.status();
  std::optional<files::Profile> profile;
  if (!options.profile.empty()) {
    Result<files::Profile> read = files::readProfile(options.profile);
    if (!read)
      return read.status();
    profile = std::move(*read);
  }
  cluster::DeviceAttr device = frontend::toAttr(*cluster, &context).getDevice();
  return Timing(options, device, std::move(profile)).time(*model);
}

} // namespace syncline::driver
