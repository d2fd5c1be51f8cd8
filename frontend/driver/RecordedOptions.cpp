// Writes and reads plan.json's `options`.
#include "frontend/driver/RecordedOptions.h"

#include "ir/nn/NN.h"

#include <nlohmann/json.hpp>

using Json = nlohmann::json;

namespace syncline::driver {
namespace {

Json classesText(frontend::ClassesIn classes) {
  switch (classes) {
  case frontend::ClassesIn::automatic:
    return "auto";
  case frontend::ClassesIn::second:
    return "1";
  case frontend::ClassesIn::last:
    return "-1";
  }
  return nullptr;
}

Json parametersJson(const std::optional<frontend::ParameterList> &list) {
  if (!list)
    return nullptr;
  Json json = Json::array();
  for (const frontend::ListedParameter &parameter : *list)
    json.push_back(
        {{"name", parameter.name},
         {"shape", std::vector<std::int64_t>(parameter.dims.begin(), parameter.dims.end())}});
  return json;
}

std::optional<frontend::ParameterList> readParameters(const Json &json) {
  if (json.is_null())
    return std::nullopt;
  frontend::ParameterList list;
  for (const Json &parameter : json) {
    const auto shape = parameter.at("shape").get<std::vector<std::int64_t>>();
    list.push_back({parameter.at("name").get<std::string>(), nn::Dims(shape.begin(), shape.end())});
  }
  return list;
}

/// Reads a loss, with the weights of classes that stand beside it.
Result<TrainedLoss> readLoss(const Json &json) {
  SYNCLINE_TRY_GET(loss, TrainedLoss::parse(json.at("loss").get<std::string>()));
  if (!loss->weightsFrom.empty()) {
    json.at(TrainedLoss::inPlan).get_to(loss->classWeights);
    if (Status s = TrainedLoss::checkWeights(loss->classWeights); !s)
      return Status::badInput("'" + std::string(TrainedLoss::inPlan) + "': " + s.message());
  }
  return loss;
}

frontend::ImportOptions readImport(const Json &json) {
  frontend::ImportOptions import;
  if (const Json &batch = json.at("batch"); !batch.is_null())
    import.batch = batch.get<std::int64_t>();
  json.at("dimensions").get_to(import.dimensions);
  json.at("batch_dimensions").get_to(import.batchDimensions);
  json.at("freeze").get_to(import.freeze);
  json.at("dropout").get_to(import.dropout);
  json.at("loss_on").get_to(import.output);
  import.parameters = readParameters(json.at("parameters"));
  for (frontend::ClassesIn classes : {frontend::ClassesIn::second, frontend::ClassesIn::last})
    if (json.at("classes_in") == classesText(classes))
      import.classesIn = classes;
  return import;
}

} // namespace

Json recordOptions(const RecordedOptions &options) {
  const frontend::ImportOptions &import = options.import;
  TrainedLoss loss = import.loss;
  if (!loss.weightsFrom.empty()) // the plan needs no other file
    loss.weightsFrom = TrainedLoss::inPlan;
  Json json = {{"batch", import.batch ? Json(*import.batch) : Json()},
               {"dimensions", import.dimensions},
               {"batch_dimensions", import.batchDimensions},
               {"loss", loss.text()},
               {"classes_in", classesText(import.classesIn)},
               {"loss_on", import.output},
               {"freeze", import.freeze},
               {"parameters", parametersJson(import.parameters)},
               {"dropout", import.dropout},
               {"recompute", options.recompute},
               {"schemes", options.schemes},
               {"precision", options.precision},
               {"plan_only", options.planOnly}};
  if (!loss.weightsFrom.empty())
    json[TrainedLoss::inPlan] = loss.classWeights;
  return json;
}

Result<RecordedOptions> readRecordedOptions(const Json &document) {
  const Json json = document.value("options", Json());
  if (!json.is_object())
    return Status::badInput("it does not record 'options'; compile the model again");
  try {
    RecordedOptions options;
    options.import = readImport(json);
    SYNCLINE_TRY_GET(loss, readLoss(json));
    options.import.loss = std::move(*loss);
    json.at("recompute").get_to(options.recompute);
    json.at("schemes").get_to(options.schemes);
    json.at("precision").get_to(options.precision);
    json.at("plan_only").get_to(options.planOnly);
    options.import.shapesSuffice = options.planOnly;
    return options;
  } catch (const Json::exception &) {
    return Status::badInput("'options' are not those of 'syncline compile'");
  }
}

} // namespace syncline::driver
