// Packs of neighbouring elements that are read and written by one access. Accesses of one 16-bit
// element for each thread would leave most of the memory's bandwidth unused.
#pragma once

#include "runtime/core/HostDevice.h"

namespace syncline::cuda {

template <typename T, int width> struct alignas(sizeof(T) * width) Pack {
  T at[width];
};

/// Load and store a pack. Precondition: the address is aligned to a pack.
template <int width, typename T> SYNCLINE_HOST_DEVICE Pack<T, width> loadPack(const T *from) {
  return *reinterpret_cast<const Pack<T, width> *>(from);
}
template <int width, typename T>
SYNCLINE_HOST_DEVICE void storePack(T *to, const Pack<T, width> &pack) {
  *reinterpret_cast<Pack<T, width> *>(to) = pack;
}

} // namespace syncline::cuda
