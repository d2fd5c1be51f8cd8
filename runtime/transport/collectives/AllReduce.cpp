// The algorithm of each scheme, and checks that all algorithms share.
#include "runtime/transport/collectives/AllReduce.h"

#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/ColocatedServers.h"
#include "runtime/transport/collectives/DedicatedServers.h"
#include "runtime/transport/collectives/HalvingDoubling.h"
#include "runtime/transport/collectives/Hierarchical.h"
#include "runtime/transport/collectives/RankSubset.h"
#include "runtime/transport/collectives/RecursiveDoubling.h"
#include "runtime/transport/collectives/RingAllReduce.h"
#include "runtime/transport/collectives/Sum.h"
#include "runtime/transport/collectives/TreeAllReduce.h"

#include <array>

namespace syncline::transport {
namespace {

using Creator = Result<std::unique_ptr<AllReduce>> (*)(Transport &, const std::string &name,
                                                       const RankLayout &);

template <typename Algorithm>
Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name,
                                          const RankLayout &) {
  return Algorithm::create(transport, name);
}

Result<std::unique_ptr<AllReduce>> createServers(Transport &transport, const std::string &name,
                                                 const RankLayout &layout) {
  if (layout.servers == 0)
    return ColocatedServers::create(transport, name);
  return createServerClient(transport, name, {transport.size() - layout.servers, layout.servers});
}

constexpr std::array summingSchemes{
    Scheme::ring, Scheme::recursiveDoubling, Scheme::halvingDoubling,
    Scheme::tree, Scheme::hierarchical,      Scheme::parameterServer};

/// Null for a scheme that is no all-reduce.
Creator creatorOf(Scheme scheme) {
  switch (scheme) {
  case Scheme::ring:
    return create<RingAllReduce>;
  case Scheme::recursiveDoubling:
    return create<RecursiveDoubling>;
  case Scheme::halvingDoubling:
    return create<HalvingDoubling>;
  case Scheme::tree:
    return create<TreeAllReduce>;
  case Scheme::hierarchical:
    return Hierarchical::create;
  case Scheme::parameterServer:
    return createServers;
  case Scheme::library: // only NCCL has it
  case Scheme::reduceScatter:
  case Scheme::factors:
  case Scheme::sparse:
    return nullptr;
  }
  return nullptr;
}

} // namespace

std::span<const Scheme> allReduceSchemes() { return summingSchemes; }

bool isAllReduce(Scheme scheme) { return creatorOf(scheme) != nullptr; }

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
  if (Status s = checkSummable(bytes, type); !s)
    return s;
  if (ranks == 1 || bytes == 0)
    return Status::ok();
  return sum(static_cast<std::byte *>(data), bytes, type);
}

Status AllReduce::runHalf(void *data, std::size_t bytes, ElementType type, core::Half half) {
  if (half == core::Half::whole)
    return run(data, bytes, type);
  if (Status s = checkSummable(bytes, type); !s)
    return s;
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
  const Creator create = creatorOf(scheme);
  if (!create)
    return Status::badInput("scheme '" + schemeText + "' is no all-reduce");
  const std::string links = name + "/" + schemeText;
  if (layout.servers == 0 || scheme == Scheme::parameterServer)
    return create(transport, links, layout);
  RankSubset workers = firstRanks(transport, transport.size() - layout.servers);
  return create(workers, links, layout);
}

} // namespace syncline::transport
