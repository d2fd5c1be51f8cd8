// Asks the kernel for the processors of this process, and chooses among them.
#include "runtime/launch/Processors.h"

#include <algorithm>
#include <sched.h>

namespace syncline::launch {

int usableProcessors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

int usableProcessor(int n) {
  cpu_set_t set;
  if (n < 0 || sched_getaffinity(0, sizeof set, &set) != 0)
    return -1;
  int left = n % CPU_COUNT(&set), processor = 0;
  while (!CPU_ISSET(processor, &set) || left-- > 0)
    ++processor;
  return processor;
}

void keepOn(int processor) {
  if (processor < 0)
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

} // namespace syncline::launch
