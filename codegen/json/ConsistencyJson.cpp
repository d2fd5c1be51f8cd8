// Writes a program's consistency and its exchanges.
#include "codegen/json/ConsistencyJson.h"

#include "ir/sync/Consistency.h"
#include "ir/sync/Sync.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using Json = nlohmann::json;

namespace syncline::codegen {

static Json exchangeJson(plan::ExchangeOp exchange) {
  Json members = Json::array();
  for (auto name : exchange.getMembers().getAsRange<StringAttr>())
    members.push_back(name.str());
  return {{"id", exchange.getId()},
          {"members", members},
          {"bytes", exchange.getBytes()},
          {"scheme", schemeName(exchange.getScheme())},
          {"offset", exchange.getOffset()},
          {"extent", exchange.getExtent()},
          {"start", exchange.getStart()},
          {"wait", exchange.getWait() ? Json(*exchange.getWait()) : Json(nullptr)},
          {"seconds", exchange.getSeconds().convertToDouble()},
          {"traffic", exchange.getTraffic().convertToDouble()}};
}

/// The numbers that the form has, under the names that a reader of plan.json knows.
static Json numbersJson(sync::ConsistencyAttr consistency) {
  switch (consistency.getForm()) {
  case sync::ConsistencyForm::local:
  case sync::ConsistencyForm::diloco:
    return {
        {"period", consistency.getPeriod()},     {"fragments", consistency.getFragments()},
        {"delay", consistency.getDelay()},       {"mix", double(consistency.getMix())},
        {"rate", double(consistency.getRate())}, {"momentum", double(consistency.getMomentum())}};
  case sync::ConsistencyForm::ssp:
    return {{"staleness", consistency.getUpper()}};
  case sync::ConsistencyForm::bsp:
  case sync::ConsistencyForm::asp:
    return Json::object();
  case sync::ConsistencyForm::dssp:
    return {{"lower", consistency.getLower()}, {"upper", consistency.getUpper()}};
  case sync::ConsistencyForm::easgd:
    return {{"variant", std::string(variantName(consistency.getVariant()))},
            {"rho", double(consistency.getRho())},
            {"period", consistency.getPeriod()}};
  }
  llvm_unreachable("no form");
}

Json consistencyJson(plan::ProgramOp program) {
  sync::ConsistencyAttr consistency = program.getConsistencyAttr();
  if (!consistency)
    return nullptr;
  Json json = numbersJson(consistency);
  json["form"] = std::string(formName(consistency.getForm()));
  json["text"] = sync::consistencyText(consistency);
  json["exchanges"] = Json::array();
  for (auto exchange : program.getOps<plan::ExchangeOp>())
    json["exchanges"].push_back(exchangeJson(exchange));
  json["shards"] = Json::array();
  for (auto shard : program.getOps<plan::ShardOp>())
    json["shards"].push_back({{"server", shard.getServer()},
                              {"offset", shard.getOffset()},
                              {"extent", shard.getExtent()}});
  return json;
}

void addExchanges(Json &predicted, plan::ProgramOp program, sync::PredictionOp prediction) {
  sync::ConsistencyAttr consistency = program.getConsistencyAttr();
  if (!consistency)
    return;
  double traffic = 0;
  for (auto exchange : program.getOps<plan::ExchangeOp>())
    traffic += exchange.getTraffic().convertToDouble();
  predicted["traffic"] =
      predicted["traffic"].get<double>() + traffic / static_cast<double>(consistency.getPeriod());
  if (auto waiting = prediction.getWaitingAttr())
    predicted["exposed"] = predicted["exposed"].get<double>() + waiting.getValueAsDouble();
}

} // namespace syncline::codegen
