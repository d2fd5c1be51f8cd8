// Anonymous mappings with huge-page advice.
#include "runtime/core/HostMemory.h"

#include <sys/mman.h>

namespace syncline::core {

HostMemory::HostMemory(std::int64_t bytes) : size(bytes) {
  if (bytes <= 0) {
    size = 0;
    return;
  }
  constexpr std::size_t hugePage = std::size_t{2} << 20;
  const bool large = static_cast<std::size_t>(bytes) >= hugePage;
  mapped = static_cast<std::size_t>(bytes) + (large ? hugePage : 0);
  void *address = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return;
  mapping = address;
  auto value = reinterpret_cast<std::uintptr_t>(address);
  if (large)
    value = (value + hugePage - 1) / hugePage * hugePage;
  begin = reinterpret_cast<std::byte *>(value);
  if (large)
    // The kernel may refuse this advice; that is no error.
    madvise(begin, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
}

HostMemory::~HostMemory() {
  if (mapping)
    munmap(mapping, mapped);
}

} // namespace syncline::core
