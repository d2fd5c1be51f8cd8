// Options of a problem by message, and what they cost.
#include "codegen/json/MessageFacts.h"

#include "ir/sync/Traffic.h"
#include "passes/cost/CollectiveTime.h"

#include "llvm/ADT/DenseSet.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using Json = nlohmann::json;

namespace syncline::codegen {

static StringRef layerName(sync::ProblemOp problem, std::int64_t layer) {
  return cast<StringAttr>(problem.getLayers()[layer]).getValue();
}

MessageFacts::MessageFacts(sync::ProblemOp problem, sync::SolutionOp solution)
    : problem(problem), byClass(problem.getMemoryBound() && !problem.getTails()) {
  for (sync::FactorOptionAttr factorOption : problem.factorOptionList())
    factorOptions[{factorOption.getLayer(), static_cast<int>(factorOption.getScheme())}] =
        factorOption;
  const ArrayRef<std::int64_t> pairs = problem.getPiggybacks().value_or(ArrayRef<std::int64_t>()),
                               piggybacked =
                                   solution.getPiggybacks().value_or(ArrayRef<std::int64_t>());
  const llvm::DenseSet<std::int64_t> isPiggyback(piggybacked.begin(), piggybacked.end());
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (isPiggyback.contains(pairs[i]))
      piggybacks[pairs[i + 1]].push_back(pairs[i]);
}

std::optional<double> MessageFacts::traffic(sync::MessageAttr message) const {
  if (const sync::FactorOptionAttr factors = factorOptionOf(message))
    return factors.getTraffic();
  if (const sync::OptionAttr option = optionOf(message))
    return sync::bytesMoved(option, message.getBytes(), sync::carrierOf(problem));
  return std::nullopt;
}

double MessageFacts::lost(sync::MessageAttr message) const {
  if (const sync::FactorOptionAttr factors = factorOptionOf(message)) {
    const auto seconds = [](std::optional<cluster::Real> lost) { return lost ? double(*lost) : 0; };
    return byClass ? std::max(seconds(factors.getProducts()), seconds(factors.getMemory()))
                   : seconds(factors.getLost());
  }
  const sync::OptionAttr option = optionOf(message);
  if (!option)
    return 0;
  const auto seconds = [&](Attribute lost) {
    return lost ? (*cost::collectiveTime(lost))->seconds(message.getBytes()) : 0;
  };
  return byClass ? std::max(seconds(option.getProducts()), seconds(option.getMemory()))
                 : seconds(option.getLost());
}

llvm::SmallVector<std::int64_t> MessageFacts::piggybacksOf(sync::MessageAttr message) const {
  return message.isFactors() ? piggybacks.lookup(message.getLayers().front())
                             : llvm::SmallVector<std::int64_t>();
}

Json MessageFacts::members(sync::MessageAttr message) const {
  Json names = Json::array();
  for (std::int64_t layer : message.getLayers())
    names.push_back(layerName(problem, layer).str());
  for (std::int64_t piggyback : piggybacksOf(message))
    names.push_back(layerName(problem, piggyback).str());
  return names;
}

std::int64_t MessageFacts::memberBytes(sync::MessageAttr message) const {
  std::int64_t bytes = message.getBytes();
  for (std::int64_t piggyback : piggybacksOf(message))
    bytes += sync::ProblemOp(problem).getBytes()[piggyback];
  return bytes;
}

sync::FactorOptionAttr MessageFacts::factorOptionOf(sync::MessageAttr message) const {
  if (!message.isFactors() || message.getLayers().size() != 1)
    return nullptr;
  return factorOptions.lookup({message.getLayers().front(), static_cast<int>(message.getScheme())});
}

sync::OptionAttr MessageFacts::optionOf(sync::MessageAttr message) const {
  const ArrayAttr mergeClasses = sync::ProblemOp(problem).getMergeClasses();
  if (message.isFactors() ||
      *message.getMergeClass() >= static_cast<std::int64_t>(mergeClasses.size()))
    return nullptr;
  for (sync::OptionAttr option :
       cast<sync::MergeClassAttr>(mergeClasses[*message.getMergeClass()]).getOptions())
    if (option.getScheme() == message.getScheme())
      return option;
  return nullptr;
}

} // namespace syncline::codegen
