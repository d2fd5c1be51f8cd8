// The network interfaces of this host.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline::transport {

/// The numeric address of an interface, of IPv4 where it has one. Errors: badInput, which lists
/// this host's interfaces, for a name that is none of them or has no address, and for the loopback
/// interface of a rank that reaches other hosts. `variable` is where the name was given.
Result<std::string> interfaceAddress(const std::string &variable, const std::string &name,
                                     bool reachesOtherHost);

} // namespace syncline::transport
