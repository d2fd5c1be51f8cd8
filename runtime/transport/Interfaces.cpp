// Asks the kernel for the interfaces that have addresses.
#include "runtime/transport/Interfaces.h"

#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <map>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace syncline::transport {
namespace {

struct Interface {
  bool isLoopback = false;
  std::string address; ///< numeric
};

/// The text of an address of IPv4 or IPv6.
std::string textOf(const sockaddr &address) {
  const socklen_t size = address.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  char text[NI_MAXHOST] = "";
  getnameinfo(&address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

/// Adds the address to its interface. The first of IPv4 counts, then the first of IPv6.
void add(std::map<std::string, Interface> &found, const ifaddrs &each) {
  if (!each.ifa_addr ||
      (each.ifa_addr->sa_family != AF_INET && each.ifa_addr->sa_family != AF_INET6))
    return;
  Interface &interface = found[each.ifa_name];
  interface.isLoopback = (each.ifa_flags & IFF_LOOPBACK) != 0;
  const bool isFirst = interface.address.empty();
  const bool replaces =
      each.ifa_addr->sa_family == AF_INET && interface.address.find(':') != std::string::npos;
  if (isFirst || replaces)
    interface.address = textOf(*each.ifa_addr);
}

} // namespace

Result<std::string> interfaceAddress(const std::string &variable, const std::string &name,
                                     bool reachesOtherHost) {
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0)
    return Status::badInput("environment variable '" + variable +
                            "': cannot list the network interfaces: " + std::strerror(errno));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  std::map<std::string, Interface> interfaces;
  for (const ifaddrs *a = all; a; a = a->ifa_next)
    add(interfaces, *a);
  const auto found = interfaces.find(name);
  if (found != interfaces.end() && !(found->second.isLoopback && reachesOtherHost))
    return found->second.address;
  std::string names;
  for (const auto &[each, interface] : interfaces)
    if (!(interface.isLoopback && reachesOtherHost))
      names += (names.empty() ? "'" : ", '") + each + "'";
  return Status::badInput("environment variable '" + variable + "': expected a network interface " +
                          (reachesOtherHost ? "that reaches other hosts" : "with an address") +
                          " (" + (names.empty() ? "this host has none" : names) + "), got '" +
                          name + "'");
}

} // namespace syncline::transport
