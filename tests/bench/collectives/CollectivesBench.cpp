// Times every scheme on short and long messages, as ratios to the ring's all-reduce.
//
//   bench-collectives [-n RANKS]                              ranks as threads over loopback
//   tests/bench/hosts.sh -n 4 -r 1gbit -- bench-collectives   a rank a process
//
// All schemes are measured in turn, several times over; a figure is a median of these. A hierarchy
// has LOCAL_WORLD_SIZE ranks a node, as threads half of the ranks. "reduce-scatter" sums N bytes of
// gradients and gathers N bytes of parameters; "factors" gathers N bytes in all, those of a rank in
// two places, one of which holds an eighth.
#include "runtime/core/Executable.h"
#include "runtime/launch/Identity.h"
#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/Ring.h"
#include "tests/bench/collectives/Ranks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace syncline {
namespace {

using namespace transport;

struct Size {
  const char *name;
  std::size_t bytes;
  int runs; ///< behind each other in one measurement
};
constexpr Size sizes[] = {{"4 KB", 4u << 10, 50},
                          {"256 KB", 256u << 10, 20},
                          {"4 MB", 4u << 20, 4},
                          {"64 MB", 64u << 20, 1}};
constexpr int rounds = 9;

/// A way to carry a message of fixed length.
struct TimedScheme {
  std::string_view name;
  std::function<Status()> run;
};

/// Every length has its own links, because connections remember losses: shorter messages would
/// change the times of longer ones.
class Schemes {
public:
  Schemes(Transport &transport, const RankLayout &layout, const Size &size)
      : bytes(size.bytes), data(bytes / sizeof(float)), parameters(data.size()) {
    for (Scheme scheme : allReduceSchemes()) {
      auto made = createAllReduce(scheme, transport, size.name, layout);
      check(made.status());
      allReduces.push_back(std::move(*made));
      all.push_back({schemeName(scheme), [this, by = allReduces.back().get()] {
                       return by->run(data.data(), bytes, ElementType::f32);
                     }});
    }
    auto made = Ring::create(transport, std::string(size.name) + "/blocks");
    check(made.status());
    ring = std::move(*made);
    all.push_back({schemeName(Scheme::reduceScatter), [this] {
                     Status s = ring->reduceScatter(data.data(), bytes, ElementType::f32);
                     return s ? ring->allGather(parameters.data(), bytes, ElementType::f32) : s;
                   }});
    const auto part = static_cast<std::int64_t>(bytes) / transport.size() / 8;
    parts = {{data.data(), part}, {parameters.data(), 7 * part}};
    all.push_back({schemeName(Scheme::factors), [this] { return ring->allGather(parts); }});
  }

  std::vector<TimedScheme> all; ///< the ring is the first

private:
  const std::size_t bytes;
  std::vector<float> data, parameters;
  std::vector<std::unique_ptr<AllReduce>> allReduces;
  std::unique_ptr<Ring> ring;
  std::vector<core::GatherPart> parts;
};

/// Seconds of one run. All ranks begin together, and the last one to end counts.
double measure(const TimedScheme &scheme, AllReduce &barrier, int runs) {
  float token = 1;
  check(barrier.run(&token, sizeof token, ElementType::f32));
  auto start = core::Clock::now();
  for (int i = 0; i < runs; ++i)
    check(scheme.run());
  check(barrier.run(&token, sizeof token, ElementType::f32));
  return core::secondsSince(start) / runs;
}

void bench(Transport &transport, const RankLayout &layout) {
  const bool prints = transport.rank() == 0;
  auto barrier = createAllReduce(Scheme::ring, transport, "barrier", layout);
  check(barrier.status());
  if (prints)
    std::printf("%d ranks: ring in microseconds, others as ratios to it", transport.size());
  for (const Size &size : sizes) {
    Schemes schemes(transport, layout, size);
    if (prints && &size == sizes) {
      std::printf("\n%-8s", "bytes");
      for (const TimedScheme &scheme : schemes.all)
        std::printf(" %19s", std::string(scheme.name).c_str());
    }
    std::vector<std::vector<double>> seconds(schemes.all.size());
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < schemes.all.size(); ++i)
        seconds[i].push_back(measure(schemes.all[i], **barrier, size.runs));
    std::vector<double> medians;
    for (std::vector<double> &s : seconds) {
      std::nth_element(s.begin(), s.begin() + rounds / 2, s.end());
      medians.push_back(s[rounds / 2]);
    }
    if (!prints)
      continue;
    std::printf("\n%-8s %19.0f", size.name, medians[0] * 1e6);
    for (std::size_t i = 1; i < medians.size(); ++i)
      std::printf(" %19.2f", medians[i] / medians[0]);
    std::fflush(stdout);
  }
  if (prints)
    std::printf("\n");
}

int main(int argc, char **argv) {
  if (const char *size = std::getenv("WORLD_SIZE")) {
    Result<launch::Identity> identity = launch::findIdentity({}, std::getenv, {std::atoi(size)});
    check(identity.status());
    GroupOptions options;
    options.rank = identity->rank;
    options.size = identity->size;
    options.address = identity->masterAddress;
    options.port = identity->masterPort;
    options.interface = identity->interface;
    const RankLayout layout{.ranksPerNode = identity->localSize};
    runRank(options, [&](Transport &transport) { bench(transport, layout); });
    return 0;
  }
  const int ranks = argc == 3 && std::strcmp(argv[1], "-n") == 0 ? std::atoi(argv[2]) : 4;
  const RankLayout layout{.ranksPerNode = ranks % 2 == 0 ? ranks / 2 : 1};
  runThreads(ranks, [&](Transport &transport) { bench(transport, layout); });
  return 0;
}

} // namespace
} // namespace syncline

int main(int argc, char **argv) { return syncline::main(argc, argv); }
