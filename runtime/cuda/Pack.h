// Neighbouring elements that are read and written by one access: one element of 16 bits a thread
// leaves most of the memory's bandwidth unused.
#pragma once

#include "runtime/core/HostDevice.h"

#include <cstddef>

namespace syncline::cuda {

template <typename T, int width> struct alignas(sizeof(T) * width) Pack {
  T at[width];
};

/// Preconditions of both: addresses aligned to a pack.
template <int width, typename T> SYNCLINE_HOST_DEVICE Pack<T, width> loadPack(const T *from) {
  return *reinterpret_cast<const Pack<T, width> *>(from);
}
template <int width, typename T>
SYNCLINE_HOST_DEVICE void storePack(T *to, const Pack<T, width> &pack) {
  *reinterpret_cast<Pack<T, width> *>(to) = pack;
}

} // namespace syncline::cuda
