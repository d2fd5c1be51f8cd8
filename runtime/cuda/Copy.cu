// Strided copies and fills.
#include "runtime/cuda/Kernels.h"
#include "runtime/cuda/Launch.cuh"

namespace syncline::cuda {

namespace {

template <typename Word> __global__ void copyKernel(Word *to, const Word *from, CopyMap map) {
  forEachElement(map.count, [&](std::int64_t i) {
    std::int64_t toAt, fromAt;
    map.locate(static_cast<std::uint32_t>(i), toAt, fromAt);
    to[toAt] = from[fromAt];
  });
}

template <typename T> __global__ void fillKernel(T *to, T value, std::int64_t n) {
  forEachElement(n, [&](std::int64_t i) { to[i] = value; });
}

template <typename Word>
cudaError_t copyAs(cudaStream_t stream, void *to, const void *from, const CopyMap &map) {
  return launch(copyKernel<Word>, blocksFor(map.count), stream, static_cast<Word *>(to),
                static_cast<const Word *>(from), map);
}

template <typename T>
cudaError_t fillAs(cudaStream_t stream, void *to, std::uint64_t bits, std::int64_t n) {
  return launch(fillKernel<T>, blocksFor(n), stream, static_cast<T *>(to), static_cast<T>(bits), n);
}

} // namespace

cudaError_t copyWords(cudaStream_t stream, void *to, const void *from, const CopyMap &map,
                      int wordBytes) {
  switch (wordBytes) {
  case 1:
    return copyAs<std::uint8_t>(stream, to, from, map);
  case 2:
    return copyAs<std::uint16_t>(stream, to, from, map);
  case 4:
    return copyAs<std::uint32_t>(stream, to, from, map);
  case 8:
    return copyAs<std::uint64_t>(stream, to, from, map);
  case 16:
    return copyAs<uint4>(stream, to, from, map);
  }
  return cudaErrorInvalidValue;
}

cudaError_t fillElements(cudaStream_t stream, void *to, std::uint64_t bits, int elementBytes,
                         std::int64_t n) {
  switch (elementBytes) {
  case 1:
    return fillAs<std::uint8_t>(stream, to, bits, n);
  case 2:
    return fillAs<std::uint16_t>(stream, to, bits, n);
  case 4:
    return fillAs<std::uint32_t>(stream, to, bits, n);
  case 8:
    return fillAs<std::uint64_t>(stream, to, bits, n);
  }
  return cudaErrorInvalidValue;
}

} // namespace syncline::cuda
