// Schemes to closures.
#include "runtime/calibrate/Collectives.h"

#include "runtime/calibrate/Messages.h"
#include "runtime/core/Executable.h"
#include "runtime/transport/collectives/Ring.h"

namespace syncline::calibrate {
namespace {

/// Shared by all collectives, of which one runs at a time.
struct Buffers {
  std::vector<float> gradients, parameters;
};

Collective reduceScatter(std::shared_ptr<Ring> ring, std::shared_ptr<Buffers> buffers,
                         std::int64_t largest) {
  return {std::string(shardedScheme),
          [ring, buffers](std::int64_t bytes) {
            Status s = ring->reduceScatter(buffers->gradients.data(), bytes, ElementType::f32);
            return s ? ring->allGather(buffers->parameters.data(), bytes, ElementType::f32) : s;
          },
          largest};
}

/// In two places, as a layer's inputs and its outputs' gradients are.
Collective factors(std::shared_ptr<Ring> ring, std::shared_ptr<Buffers> buffers,
                   std::int64_t largest) {
  return {std::string(gatheredScheme),
          [ring, buffers](std::int64_t bytes) {
            const std::int64_t first = bytes / 8 * 4;
            const GatherPart parts[] = {{buffers->gradients.data(), first},
                                        {buffers->parameters.data(), bytes - first}};
            return ring->allGather(parts);
          },
          largest};
}

} // namespace

std::vector<std::string> usableSchemes(int ranks, int ranksPerNode) {
  std::vector<std::string> schemes;
  for (std::string_view scheme : allReduceSchemes())
    if (scheme != "hierarchical" || (ranksPerNode > 1 && ranksPerNode < ranks))
      schemes.emplace_back(scheme);
  schemes.emplace_back(shardedScheme);
  schemes.emplace_back(gatheredScheme);
  return schemes;
}

Result<std::vector<Collective>> openCollectives(Transport &transport, const RankLayout &layout,
                                                const std::vector<std::string> &schemes,
                                                std::int64_t largest, const std::string &name) {
  auto buffers = std::make_shared<Buffers>();
  buffers->gradients.resize(largest / sizeof(float) + 1);
  buffers->parameters.resize(buffers->gradients.size());
  std::vector<Collective> all;
  for (const std::string &scheme : schemes) {
    if (scheme == shardedScheme || scheme == gatheredScheme) {
      auto made = Ring::create(transport, name + "/" + scheme);
      if (!made)
        return made.status();
      std::shared_ptr<Ring> ring = std::move(*made);
      const std::int64_t most = largestMessage(scheme, transport.size(), largest);
      all.push_back(scheme == shardedScheme ? reduceScatter(ring, buffers, most)
                                            : factors(ring, buffers, most));
      continue;
    }
    auto made = createAllReduce(scheme, transport, name, layout);
    if (!made)
      return made.status();
    std::shared_ptr<AllReduce> by = std::move(*made);
    all.push_back({scheme,
                   [by, buffers](std::int64_t bytes) {
                     return by->run(buffers->gradients.data(), bytes, ElementType::f32);
                   },
                   largest});
  }
  return all;
}

} // namespace syncline::calibrate
