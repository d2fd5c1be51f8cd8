// Opening links and counting what they move.
#include "runtime/transport/HostTransport.h"

#include "runtime/transport/Interfaces.h"
#include "runtime/transport/LinkOpening.h"
#include "runtime/transport/TcpWire.h"

#include <future>

namespace syncline::transport {
namespace {

/// The time limit of links without one.
constexpr double patientSeconds = 1e6;

using Links = std::vector<std::unique_ptr<Link>>;

class HostTransport : public Transport {
public:
  HostTransport(const HostTransportOptions &options, Store &store, Watch *watch)
      : options(options), store(store), monitor(options.rank, options.names, watch) {}

  int rank() const override { return options.rank; }
  int size() const override { return options.size; }
  Result<Links> open(std::span<const LinkEnd> ends) override;
  Traffic traffic() const override { return monitor.traffic(); }
  void interrupt() override { monitor.interrupt(); }

private:
  Result<std::unique_ptr<Link>> makeLink(const LinkEnd &end, Result<Socket> connection);

  const HostTransportOptions options;
  Store &store;
  LinkMonitor monitor;
};

Result<std::unique_ptr<Link>> HostTransport::makeLink(const LinkEnd &end,
                                                      Result<Socket> connection) {
  if (!connection)
    return connection.status();
  const double limit = end.isPatient ? patientSeconds : options.timeoutSeconds;
  SYNCLINE_TRY_GET(
      wire, TcpWire::create(std::move(*connection), limit, monitor.nameOf(end.peer), end.tag));
  return std::unique_ptr<Link>(
      std::make_unique<WatchedLink>(monitor, end.peer, end.isPatient, std::move(*wire)));
}

Result<Links> HostTransport::open(std::span<const LinkEnd> ends) {
  SYNCLINE_TRY_GET(opening, LinkOpening::begin(ends, options.address, store, monitor, options.rank,
                                               {options.startSeconds, options.timeoutSeconds}));
  // In parallel, because the peer of one link may itself be waiting at another.
  std::vector<std::future<Result<std::unique_ptr<Link>>>> connecting;
  for (std::size_t i = 0; i < ends.size(); ++i)
    connecting.push_back(std::async(std::launch::async,
                                    [&, i] { return makeLink(ends[i], (*opening)->connect(i)); }));
  Links links;
  Status first;
  for (auto &c : connecting) {
    Result<std::unique_ptr<Link>> link = c.get();
    if (link)
      links.push_back(std::move(*link));
    else if (first)
      first = link.status();
  }
  return first ? Result<Links>(std::move(links)) : first;
}

} // namespace

Result<std::unique_ptr<Transport>> createHostTransport(const HostTransportOptions &options,
                                                       Store &store, Watch *watch) {
  HostTransportOptions own = options;
  if (!options.interface.empty()) {
    SYNCLINE_TRY_GET(address, interfaceAddress("GLOO_SOCKET_IFNAME", options.interface,
                                               options.reachesOtherHost));
    own.address = std::move(*address);
  }
  return std::unique_ptr<Transport>(new HostTransport(own, store, watch));
}

} // namespace syncline::transport
