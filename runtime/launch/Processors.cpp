// Asks the kernel for the processors of this process, and chooses among them.
#include "runtime/launch/Processors.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <vector>

namespace syncline::launch {

int usableProcessors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

double processorQuota(const std::string &root, const std::string &group) {
  double least = std::numeric_limits<double>::infinity(), quota = 0, period = 0;
  const auto take = [&] {
    if (quota > 0 && period > 0)
      least = std::min(least, quota / period);
  };
  // Version 2 says "max" where there is no limit.
  for (std::filesystem::path at = group; at.has_root_path(); at = at.parent_path()) {
    std::ifstream limit(root + at.string() + "/cpu.max");
    if (limit >> quota >> period)
      take();
    if (at == at.parent_path())
      break;
  }
  // Version 1, as a container sees it.
  std::ifstream quotaFile(root + "/cpu/cpu.cfs_quota_us"),
      periodFile(root + "/cpu/cpu.cfs_period_us");
  if (quotaFile >> quota && periodFile >> period)
    take();
  return least;
}

double grantedProcessors() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line, group = "/";
  while (std::getline(groups, line))
    if (line.starts_with("0::"))
      group = line.substr(3);
  return std::min<double>(usableProcessors(), processorQuota("/sys/fs/cgroup", group));
}

cpu_set_t processorBlock(int n, int width) {
  cpu_set_t all, block;
  CPU_ZERO(&block);
  if (sched_getaffinity(0, sizeof all, &all) != 0)
    return block;
  std::vector<int> usable;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &all))
      usable.push_back(processor);
  const std::size_t first = static_cast<std::size_t>(n) * width;
  for (std::size_t i = 0; i < std::min<std::size_t>(width, usable.size()); ++i)
    CPU_SET(usable[(first + i) % usable.size()], &block);
  return block;
}

std::string ignoredThreads(const char *wanted, int threads) {
  if (!wanted || threads != 1 || std::string_view(wanted).empty() ||
      std::string_view(wanted) == "1")
    return "";
  return "'OMP_NUM_THREADS=" + std::string(wanted) +
         "' is ignored: '--threads' says how many threads compute in each rank, 1 by default";
}

} // namespace syncline::launch
