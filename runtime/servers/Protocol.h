// What workers and servers say to each other. Numbers travel as they lie in memory.
#pragma once

#include "runtime/core/Range.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace syncline::servers {

/// A worker's request. Values that belong to it follow.
struct Request {
  enum class Kind : std::int32_t {
    initialise, ///< values follow: the shard's first ones. The first worker sends it
    push,       ///< values follow: the shard adds them, and the worker's clock is `clock`
    read,       ///< answered with the values once all clocks are at least `need`
    elastic,    ///< values w follow; answered with the shard's c, which becomes c + factor·(w - c)
    tick,       ///< to the keeper: answered once the worker may begin step `clock`
    leave,      ///< the worker pushes no more
  } kind;
  std::int32_t signal = 0; ///< tick, leave: the signal that stops the run; 0 for none
  std::int64_t clock = 0;  ///< number of the worker's complete steps
  std::int64_t need = 0;
  double factor = 0;
};

/// A server's answer. Any number of `waiting` may come first, one a second.
struct Reply {
  enum class Kind : std::int32_t {
    waiting, ///< the answer is held back until worker `worker`, at clock `clock`, goes on
    ready,   ///< values follow where the request asks for them
  } kind;
  std::int32_t worker = 0;
  std::int64_t clock = 0; ///< ready: the least clock of all workers, contained in the values
  std::int64_t lead = 0;  ///< ready, of a tick: the worker's lead
  std::int32_t signal = 0, unused = 0;
  double held = 0; ///< ready: seconds that the answer was held back
};

/// The least clock of a read that waits until all workers have left.
inline constexpr std::int64_t allHaveLeft = std::numeric_limits<std::int64_t>::max();

/// Who serves: the `servers` ranks after the workers or, without any, the workers. Server i has
/// part i of the weights; servers behind the last part have none.
struct Roles {
  int workers = 1, servers = 0;
  std::vector<core::Range> parts; ///< at least one, in bytes, each of whole f32

  int shards() const { return static_cast<int>(parts.size()); }
  int rankOf(int shard) const { return servers > 0 ? workers + shard : shard; }
  /// The part of a rank; empty for a rank that serves none.
  core::Range partOf(int rank) const {
    const int shard = servers > 0 ? rank - workers : rank;
    return shard >= 0 && shard < shards() ? parts[static_cast<std::size_t>(shard)] : core::Range();
  }
};

} // namespace syncline::servers
