// Schemes by name, and what all of them check.
#include "runtime/transport/collectives/AllReduce.h"

#include "runtime/core/Executable.h"
#include "runtime/transport/collectives/ColocatedServers.h"
#include "runtime/transport/collectives/DedicatedServers.h"
#include "runtime/transport/collectives/HalvingDoubling.h"
#include "runtime/transport/collectives/Hierarchical.h"
#include "runtime/transport/collectives/RankSubset.h"
#include "runtime/transport/collectives/RecursiveDoubling.h"
#include "runtime/transport/collectives/RingAllReduce.h"
#include "runtime/transport/collectives/Sum.h"
#include "runtime/transport/collectives/TreeAllReduce.h"
#include "syncline/Suggestion.h"

#include <array>

namespace syncline {
namespace {

using Creator = Result<std::unique_ptr<AllReduce>> (*)(Transport &, const std::string &name,
                                                       const RankLayout &);

template <typename Scheme>
Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name,
                                          const RankLayout &) {
  return Scheme::create(transport, name);
}

Result<std::unique_ptr<AllReduce>> createServers(Transport &transport, const std::string &name,
                                                 const RankLayout &layout) {
  if (layout.servers == 0)
    return ColocatedServers::create(transport, name);
  return createServerClient(transport, name, {transport.size() - layout.servers, layout.servers});
}

struct NamedScheme {
  std::string_view name;
  Creator create;
};

constexpr NamedScheme schemes[] = {
    {"ring", create<RingAllReduce>},
    {"recursive-doubling", create<RecursiveDoubling>},
    {"halving-doubling", create<HalvingDoubling>},
    {"tree", create<TreeAllReduce>},
    {"hierarchical", Hierarchical::create},
    {"parameter-server", createServers},
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(schemes)> all;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = schemes[i].name;
  return all;
}();

const NamedScheme *find(std::string_view name) {
  for (const NamedScheme &s : schemes)
    if (s.name == name)
      return &s;
  return nullptr;
}

} // namespace

std::span<const std::string_view> allReduceSchemes() { return names; }

Status checkScheme(std::string_view scheme) {
  if (find(scheme) || scheme == shardedScheme || scheme == gatheredScheme)
    return Status::ok();
  std::vector<std::string_view> known(std::begin(names), std::end(names));
  known.insert(known.end(), {shardedScheme, gatheredScheme});
  return Status::badInput("unknown scheme '" + std::string(scheme) + "'" +
                          suggestion(scheme, known));
}

Status checkSummable(std::size_t bytes, ElementType type) {
  std::string name(elementName(type));
  if (!addInto(type, nullptr, nullptr, 0))
    return Status::badInput("no sum over ranks for element type '" + name + "'");
  if (bytes % elementBytes(type) != 0)
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

Result<std::unique_ptr<AllReduce>> createAllReduce(std::string_view scheme, Transport &transport,
                                                   const std::string &name,
                                                   const RankLayout &layout) {
  if (Status s = checkScheme(scheme); !s)
    return s;
  const NamedScheme *found = find(scheme);
  if (!found)
    return Status::badInput("scheme '" + std::string(scheme) + "' is no all-reduce");
  const std::string links = name + "/" + std::string(scheme);
  if (layout.servers == 0 || found->create == createServers)
    return found->create(transport, links, layout);
  RankSubset workers = firstRanks(transport, transport.size() - layout.servers);
  return found->create(workers, links, layout);
}

} // namespace syncline
