// Times dedicated servers on long messages, as shares of what the links allow.
//
//   bench-servers -s SERVERS [-n WORKERS]                           ranks as threads over loopback
//   tests/bench/hosts.sh -n 4 -S 2 -r 1gbit -- bench-servers -s 2   a rank a process
//
// A figure is the median of several runs, each from a common start to the end of the last worker.
// With P workers and S servers the busiest direction of a link carries max(1, P/S) times the
// message; the last column is the rate at which it did, to be compared with the link's.
#include "runtime/launch/Identity.h"
#include "runtime/transport/collectives/DedicatedServers.h"
#include "tests/bench/collectives/Ranks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace syncline {
namespace {

using namespace transport;

constexpr std::size_t sizes[] = {64u << 10, 1u << 20, 4u << 20, 16u << 20, 64u << 20};
constexpr int rounds = 5;

/// Serves what work() sends.
void serve(Transport &transport, const ServerGroup &roles) {
  auto server = DedicatedServer::create(transport, "bench", roles);
  check(server.status());
  for (std::size_t bytes : sizes)
    for (int round = 0; round < rounds; ++round)
      for (std::size_t message : {sizeof(float), bytes, sizeof(float)})
        check((*server)->serve(message, ElementType::f32));
}

void work(Transport &transport, const ServerGroup &roles) {
  auto client = createServerClient(transport, "bench", roles);
  check(client.status());
  const bool prints = transport.rank() == 0;
  if (prints)
    std::printf("%d workers, %d servers\n%12s %12s %16s\n", roles.workers, roles.servers, "bytes",
                "ms", "busiest, Mb/s");
  for (std::size_t bytes : sizes) {
    std::vector<float> data(bytes / sizeof(float), 1);
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) {
      float token = 1;
      // Messages of one element are barriers: servers hear of all workers before they reply.
      check((*client)->run(&token, sizeof token, ElementType::f32));
      auto start = core::Clock::now();
      check((*client)->run(data.data(), bytes, ElementType::f32));
      check((*client)->run(&token, sizeof token, ElementType::f32));
      seconds.push_back(core::secondsSince(start));
    }
    std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
    const double median = seconds[rounds / 2];
    const double share = std::max(1.0, static_cast<double>(roles.workers) / roles.servers);
    if (prints)
      std::printf("%12zu %12.2f %16.0f\n", bytes, median * 1e3, 8e-6 * share * bytes / median);
  }
}

int number(int argc, char **argv, const char *flag, int otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], flag) == 0)
      return std::atoi(argv[i + 1]);
  return otherwise;
}

int main(int argc, char **argv) {
  const int servers = number(argc, argv, "-s", 1);
  const auto bench = [&](Transport &transport) {
    const ServerGroup roles{transport.size() - servers, servers};
    if (transport.rank() < roles.workers)
      work(transport, roles);
    else
      serve(transport, roles);
  };
  if (const char *size = std::getenv("WORLD_SIZE")) {
    GroupOptions options;
    options.size = std::atoi(size);
    options.rank = std::atoi(std::getenv("RANK"));
    options.address = std::getenv("MASTER_ADDR");
    options.port = std::atoi(std::getenv("MASTER_PORT"));
    options.interface = std::getenv("GLOO_SOCKET_IFNAME");
    runRank(options, bench);
    return 0;
  }
  runThreads(number(argc, argv, "-n", 4) + servers, bench);
  return 0;
}

} // namespace
} // namespace syncline

int main(int argc, char **argv) { return syncline::main(argc, argv); }
