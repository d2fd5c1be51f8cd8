// The algorithm of each scheme, and checks that all algorithms share.
#include "runtime/transport/collectives/AllReduce.h"

#include "runtime/core/Channel.h"
#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/Algorithms.h"
#include "runtime/transport/collectives/DedicatedServers.h"
#include "runtime/transport/collectives/RankSubset.h"
#include "runtime/transport/collectives/Sum.h"

#include <algorithm>
#include <utility>

namespace syncline::transport {
namespace {

Result<std::unique_ptr<AllReduce>> createServers(Transport &transport, const std::string &name,
                                                 const RankLayout &layout) {
  if (layout.servers == 0)
    return createColocatedServers(transport, name, layout);
  return createServerClient(transport, name, {transport.size() - layout.servers, layout.servers});
}

constexpr std::pair<Scheme, CreateAllReduce *> creators[] = {
    {Scheme::ring, createRing},
    {Scheme::recursiveDoubling, createRecursiveDoubling},
    {Scheme::halvingDoubling, createHalvingDoubling},
    {Scheme::tree, createTrees},
    {Scheme::hierarchical, createHierarchical},
    {Scheme::parameterServer, createServers},
};

constexpr auto summingSchemes =
    schemesWhere<[](Scheme scheme) { return isSum(scheme) && isCarried(scheme, false); }>;
static_assert(std::ranges::equal(creators, summingSchemes, {}, [](auto &row) { return row.first; }),
              "expected a creator for each, in the order of Schemes.inc");

} // namespace

std::span<const Scheme> allReduceSchemes() { return summingSchemes; }

Status checkSummable(std::size_t bytes, ElementType type) {
  std::string name(core::elementName(type));
  if (!addInto(type, nullptr, nullptr, 0))
    return Status::badInput("no sum over ranks for element type '" + name + "'");
  if (bytes % core::elementBytes(type) != 0)
    return Status::error(ErrorKind::internal, "a bucket of " + std::to_string(bytes) +
                                                  " bytes does not hold whole elements of '" +
                                                  name + "'");
  return Status::ok();
}

Status AllReduce::run(void *data, std::size_t bytes, ElementType type) {
  SYNCLINE_TRY(checkSummable(bytes, type));
  if (ranks == 1 || bytes == 0)
    return Status::ok();
  return sum(static_cast<std::byte *>(data), bytes, type);
}

Status AllReduce::runHalf(void *data, std::size_t bytes, ElementType type, core::Half half) {
  if (half == core::Half::whole)
    return run(data, bytes, type);
  SYNCLINE_TRY(checkSummable(bytes, type));
  if (ranks == 1 || bytes == 0)
    return Status::ok();
  return sumHalf(static_cast<std::byte *>(data), bytes, type, half);
}

Status AllReduce::sumHalf(std::byte *, std::size_t, ElementType, core::Half) {
  return Status::error(ErrorKind::internal, "this all-reduce has no halves");
}

Result<std::unique_ptr<AllReduce>> createAllReduce(Scheme scheme, Transport &transport,
                                                   const std::string &name,
                                                   const RankLayout &layout) {
  const std::string schemeText(schemeName(scheme));
  const auto *row = std::ranges::find(creators, scheme, [](auto &row) { return row.first; });
  if (row == std::end(creators))
    return Status::badInput("scheme '" + schemeText + "' is no all-reduce");
  const std::string links = name + "/" + schemeText;
  if (layout.servers == 0 || scheme == Scheme::parameterServer)
    return row->second(transport, links, layout);
  RankSubset workers = firstRanks(transport, transport.size() - layout.servers);
  return row->second(workers, links, layout);
}

} // namespace syncline::transport
