// Making a closure for each scheme.
#include "runtime/calibrate/Collectives.h"

#include "runtime/calibrate/Messages.h"
#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/Ring.h"

namespace syncline::calibrate {
namespace {

/// Buffers that all collectives share; one collective runs at a time.
struct Buffers {
  std::vector<float> gradients, parameters;
};

Collective reduceScatter(std::shared_ptr<transport::Ring> ring, std::shared_ptr<Buffers> buffers,
                         std::int64_t largest) {
  return {Scheme::reduceScatter,
          [ring, buffers](std::int64_t bytes) {
            Status s = ring->reduceScatter(buffers->gradients.data(), bytes, ElementType::f32);
            return s ? ring->allGather(buffers->parameters.data(), bytes, ElementType::f32) : s;
          },
          largest};
}

/// The message has two parts, like a layer's inputs and its outputs' gradients.
Collective factors(std::shared_ptr<transport::Ring> ring, std::shared_ptr<Buffers> buffers,
                   std::int64_t largest) {
  return {Scheme::factors,
          [ring, buffers](std::int64_t bytes) {
            const std::int64_t first = bytes / 8 * 4;
            const core::GatherPart parts[] = {{buffers->gradients.data(), first},
                                              {buffers->parameters.data(), bytes - first}};
            return ring->allGather(parts);
          },
          largest};
}

} // namespace

std::vector<Scheme> usableSchemes(int ranks, int ranksPerNode) {
  std::vector<Scheme> schemes;
  for (Scheme scheme : carriedSchemes(/*byNccl=*/false))
    if (pricedAs(scheme) == scheme &&
        (scheme != Scheme::hierarchical || (ranksPerNode > 1 && ranksPerNode < ranks)))
      schemes.push_back(scheme);
  return schemes;
}

Result<std::vector<Collective>> openCollectives(transport::Transport &transport,
                                                const transport::RankLayout &layout,
                                                const std::vector<Scheme> &schemes,
                                                std::int64_t largest, const std::string &name) {
  auto buffers = std::make_shared<Buffers>();
  buffers->gradients.resize(largest / sizeof(float) + 1);
  buffers->parameters.resize(buffers->gradients.size());
  std::vector<Collective> all;
  for (Scheme scheme : schemes) {
    if (!isSum(scheme)) {
      SYNCLINE_TRY_GET(
          made, transport::Ring::create(transport, name + "/" + std::string(schemeName(scheme))));
      std::shared_ptr<transport::Ring> ring = std::move(*made);
      const std::int64_t most = largestMessage(scheme, transport.size(), largest);
      all.push_back(scheme == Scheme::reduceScatter ? reduceScatter(ring, buffers, most)
                                                    : factors(ring, buffers, most));
      continue;
    }
    SYNCLINE_TRY_GET(made, transport::createAllReduce(scheme, transport, name, layout));
    std::shared_ptr<transport::AllReduce> by = std::move(*made);
    all.push_back({scheme,
                   [by, buffers](std::int64_t bytes) {
                     return by->run(buffers->gradients.data(), bytes, ElementType::f32);
                   },
                   largest});
  }
  return all;
}

} // namespace syncline::calibrate
