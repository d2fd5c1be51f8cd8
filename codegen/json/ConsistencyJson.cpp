// Writes a program's consistency and its exchanges.
#include "codegen/json/ConsistencyJson.h"

#include "ir/sync/Consistency.h"
#include "ir/sync/WaitingAttr.h"

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
          {"wait", exchange.getWait()},
          {"seconds", exchange.getSeconds().convertToDouble()},
          {"traffic", exchange.getTraffic().convertToDouble()}};
}

Json consistencyJson(plan::ProgramOp program) {
  sync::ConsistencyAttr consistency = program.getConsistencyAttr();
  if (!consistency)
    return nullptr;
  Json exchanges = Json::array();
  for (auto exchange : program.getOps<plan::ExchangeOp>())
    exchanges.push_back(exchangeJson(exchange));
  return {{"form", sync::stringifyConsistencyForm(consistency.getForm()).str()},
          {"text", sync::consistencyText(consistency)},
          {"period", consistency.getPeriod()},
          {"fragments", consistency.getFragments()},
          {"delay", consistency.getDelay()},
          {"mix", double(consistency.getMix())},
          {"rate", double(consistency.getRate())},
          {"momentum", double(consistency.getMomentum())},
          {"exchanges", exchanges}};
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
  if (auto waiting = prediction->getAttrOfType<FloatAttr>(sync::waitingAttr))
    predicted["exposed"] = predicted["exposed"].get<double>() + waiting.getValueAsDouble();
}

} // namespace syncline::codegen
