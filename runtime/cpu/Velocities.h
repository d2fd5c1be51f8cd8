// The optimizer's state: velocity for the parameters that this rank updates, and for no others.
#pragma once

#include "runtime/core/HostMemory.h"

#include <cstdint>
#include <vector>

namespace syncline::cpu {

/// Zeroed velocity for stretches of the parameters' space; offsets and lengths in bytes.
class Velocities {
public:
  /// Adds the stretch [begin, begin + bytes), which overlaps no other; nothing for no bytes. False
  /// when the system refuses the memory.
  bool add(std::int64_t begin, std::int64_t bytes);
  /// The velocity of parameters [begin, begin + bytes); null unless all of it is in one stretch.
  std::byte *at(std::int64_t begin, std::int64_t bytes) const;
  /// Held in all.
  std::int64_t bytes() const;

private:
  struct Stretch {
    std::int64_t begin;
    HostMemory memory;
  };
  std::vector<Stretch> stretches;
};

} // namespace syncline::cpu
