// Joining and leaving a run.
#include "runtime/transport/Group.h"

#include "runtime/transport/HostTransport.h"

#include <algorithm>
#include <map>

namespace syncline::transport {

Group::~Group() = default;

Result<std::unique_ptr<Group>> Group::join(const GroupOptions &options) {
  std::unique_ptr<Group> group(new Group(options));
  int port = options.port;
  if (options.rank == 0) {
    Socket listener(options.listener);
    if (!listener.isOpen()) {
      // Who meets on loopback must not be reachable from other hosts.
      const std::string address = options.address == "localhost" ? "127.0.0.1" : options.address;
      SYNCLINE_TRY_GET(fresh, Socket::listen(options.port, isLoopback(address) ? address : ""));
      listener = std::move(*fresh);
    }
    group->server =
        std::make_unique<StoreServer>(std::move(listener), options.size, group->names, options.key);
    port = group->server->port();
  }
  core::Deadline deadline = core::deadlineIn(options.startSeconds);
  SYNCLINE_TRY_GET(watch, Watch::connect(options.address, port, options.rank, options.size,
                                         deadline, options.key));
  group->watch = std::move(*watch);
  SYNCLINE_TRY_GET(store, Store::connect(options.address, port, options.rank, options.size,
                                         deadline, options.key));
  group->store = std::make_unique<Store>(std::move(*store));
  return group;
}

/// The parts of a text that begin with "--"; the text itself where it does not.
static std::vector<std::string> optionsOf(const std::string &text) {
  std::vector<std::string> options;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.starts_with("--") ? text.find(" --", begin) : std::string::npos;
    options.push_back(text.substr(begin, end - begin));
  }
  return options;
}

/// `value` without the options that all `values` have; "none" where nothing is left.
static std::string withoutCommon(const std::string &value, const std::vector<std::string> &values) {
  std::string rest;
  for (const std::string &option : optionsOf(value))
    if (!std::ranges::all_of(values, [&](const std::string &other) {
          return std::ranges::count(optionsOf(other), option) > 0;
        }))
      rest += (rest.empty() ? "" : " ") + option;
  return rest.empty() ? "none" : rest;
}

Status Group::agree(const std::vector<SharedFact> &facts, Participants who) {
  for (const SharedFact &fact : facts) {
    SYNCLINE_TRY_GET(values, gather("agree/" + fact.what, fact.value, options.startSeconds, who));
    std::map<std::string, std::vector<int>> holders;
    for (std::size_t r = 0; r < values->size(); ++r)
      holders[(*values)[r]].push_back(static_cast<int>(r));
    if (holders.size() == 1)
      continue;
    std::string message = "the ranks differ in their " + fact.what + ":";
    for (const auto &[value, ranks] : holders)
      message += (message.ends_with(':') ? " " : ", ") + names.of(ranks) + " '" +
                 withoutCommon(value, *values) + "'";
    return Status::error(ErrorKind::peerLost, message);
  }
  return Status::ok();
}

Status Group::connect(double timeoutSeconds) {
  HostTransportOptions own;
  own.rank = options.rank;
  own.size = options.size;
  own.names = names;
  own.interface = options.interface;
  own.startSeconds = options.startSeconds;
  own.timeoutSeconds = timeoutSeconds;
  own.address = store->localAddress();
  own.reachesOtherHost = options.rank != 0 && own.address != store->peerAddress();
  // Rank 0 reaches itself by loopback, but ranks of other hosts need another address.
  if (server && isLoopback(own.address))
    if (std::string reachable = server->reachableAddress(); !reachable.empty())
      own.address = reachable;
  SYNCLINE_TRY_GET(transport, createHostTransport(own, *store, watch.get()));
  connected = std::move(*transport);
  return Status::ok();
}

void Group::abandon(const Status &error) {
  if (error.kind() != ErrorKind::peerLost)
    watch->fail(error.message());
  if (server)
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

Result<std::vector<std::string>> Group::gather(const std::string &key, const std::string &value,
                                               double seconds, Participants who) {
  return store->gather(key, value, core::deadlineIn(seconds), who == Participants::workers);
}

Status Group::tell(const std::string &key, const std::string &value, double seconds) {
  return store->set(key, value, seconds);
}

Result<std::optional<std::string>> Group::ask(const std::string &key, double seconds) {
  Status known = verdict();
  if (!known)
    return known;
  auto value = store->get(key, core::Clock::now(), seconds);
  if (value)
    return value;
  known = verdict();
  return known
             ? Status::error(ErrorKind::peerLost, "lost " + Verdict{0, "stuck", ""}.describe(names))
             : known;
}

void Group::depart() { watch->depart(); }

Status Group::verdict() const {
  std::optional<Verdict> found = watch->verdict();
  return found ? Status::error(ErrorKind::peerLost, "lost " + found->describe(names))
               : Status::ok();
}

Status Group::blame(int peer, const std::string &message) const {
  return watch->blame(options.rank, peer, message, names);
}

Status Group::leave(double seconds) {
  store->enter("at the end of the run");
  auto all = store->gather("leave", "", core::deadlineIn(seconds));
  return all ? Status::ok() : all.status();
}

} // namespace syncline::transport
