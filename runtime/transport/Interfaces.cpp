// Asks the kernel for the interfaces that have addresses.
#include "runtime/transport/Interfaces.h"

#include <ifaddrs.h>
#include <map>
#include <memory>
#include <net/if.h>
#include <sys/socket.h>

namespace syncline::transport {

Status checkInterface(const std::string &variable, const std::string &name, bool reachesOtherHost) {
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0)
    return Status::ok(); // whoever uses the interface finds out
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  std::map<std::string, bool> isLoopback;
  for (const ifaddrs *a = all; a; a = a->ifa_next)
    if (a->ifa_addr && (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6))
      isLoopback[a->ifa_name] = (a->ifa_flags & IFF_LOOPBACK) != 0;
  const auto found = isLoopback.find(name);
  if (found != isLoopback.end() && !(found->second && reachesOtherHost))
    return Status::ok();
  std::string names;
  for (const auto &[each, loops] : isLoopback)
    if (!(loops && reachesOtherHost))
      names += (names.empty() ? "'" : ", '") + each + "'";
  return Status::badInput("environment variable '" + variable + "': expected a network interface " +
                          (reachesOtherHost ? "that reaches other hosts" : "with an address") +
                          " (" + (names.empty() ? "this host has none" : names) + "), got '" +
                          name + "'");
}

} // namespace syncline::transport
