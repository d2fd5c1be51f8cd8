// Stretches of velocity, each with memory of its own.
#include "runtime/cpu/Velocities.h"

namespace syncline::cpu {

bool Velocities::add(std::int64_t begin, std::int64_t bytes) {
  if (bytes <= 0)
    return true;
  HostMemory memory(bytes);
  if (!memory.isValid())
    return false;
  stretches.push_back({begin, std::move(memory)});
  return true;
}

std::byte *Velocities::at(std::int64_t begin, std::int64_t bytes) const {
  for (const Stretch &s : stretches)
    if (begin >= s.begin && begin + bytes <= s.begin + s.memory.bytes())
      return s.memory.data() + (begin - s.begin);
  return nullptr;
}

std::int64_t Velocities::bytes() const {
  std::int64_t sum = 0;
  for (const Stretch &s : stretches)
    sum += s.memory.bytes();
  return sum;
}

} // namespace syncline::cpu
