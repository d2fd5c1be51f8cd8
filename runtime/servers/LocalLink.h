// Links inside one process, for a worker whose process holds a shard.
#pragma once

#include "runtime/transport/Transport.h"

#include <utility>

namespace syncline::servers {

/// Returns the sending and the receiving end of a stream without a time limit. Each may be
/// destroyed before the other; a receive then fails once the messages are used up.
std::pair<std::unique_ptr<transport::Link>, std::unique_ptr<transport::Link>> localLink();

} // namespace syncline::servers
