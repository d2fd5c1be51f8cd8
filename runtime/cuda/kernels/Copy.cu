// Strided copies, conversions and fills.
#include "runtime/cuda/kernels/Kernels.h"
#include "runtime/cuda/kernels/Launch.cuh"

#include <algorithm>

namespace syncline::cuda {

namespace {

template <typename Word> __global__ void copyKernel(Word *to, const Word *from, CopyMap map) {
  forEachElement(map.count, [&](std::int64_t i) {
    std::int64_t toAt, fromAt;
    map.locate(static_cast<std::uint32_t>(i), toAt, fromAt);
    to[toAt] = from[fromAt];
  });
}

template <typename To, typename From>
__global__ void convertKernel(To *to, const From *from, CopyMap map) {
  forEachElement(map.count, [&](std::int64_t i) {
    std::int64_t toAt, fromAt;
    map.locate(static_cast<std::uint32_t>(i), toAt, fromAt);
    to[toAt] = static_cast<To>(static_cast<float>(from[fromAt]));
  });
}

/// Converts elements where both sides have the same order: four at a time, the rest one at a time.
/// Both addresses are aligned to four elements.
template <typename To, typename From>
__device__ void convertPacks(To *to, const From *from, std::int64_t n) {
  forEachElement(n / 4, [&](std::int64_t i) {
    const auto read = loadPack<4>(from + 4 * i);
    Pack<To, 4> written;
    for (int k = 0; k < 4; ++k)
      written.at[k] = static_cast<To>(static_cast<float>(read.at[k]));
    storePack(to + 4 * i, written);
  });
  forEachElement(n % 4, [&](std::int64_t rest) {
    const std::int64_t i = n / 4 * 4 + rest;
    to[i] = static_cast<To>(static_cast<float>(from[i]));
  });
}

template <typename To, typename From>
__global__ void convertInOrderKernel(To *to, const From *from, std::int64_t n) {
  convertPacks(to, from, n);
}

/// An argument of a kernel: 3 of the 4 KiB that it may have.
struct RoundedArrays {
  RoundedArray at[maxRoundedArrays];
};

/// blockIdx.y is the number of the array.
__global__ void roundArraysKernel(RoundedArrays arrays) {
  const RoundedArray &own = arrays.at[blockIdx.y];
  convertPacks(own.to, own.from, own.n);
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

template <typename To, typename From>
cudaError_t convertElements(cudaStream_t stream, To *to, const From *from, const CopyMap &map) {
  const bool isInOrder = map.loops == 0 || (map.loops == 1 && map.to[0] == 1 && map.from[0] == 1);
  if (isInOrder && isAlignedTo(to, 4 * sizeof(To)) && isAlignedTo(from, 4 * sizeof(From)))
    return launch(convertInOrderKernel<To, From>, blocksFor((map.count + 3) / 4), stream, to, from,
                  std::int64_t{map.count});
  return launch(convertKernel<To, From>, blocksFor(map.count), stream, to, from, map);
}

template cudaError_t convertElements(cudaStream_t, BFloat16 *, const float *, const CopyMap &);
template cudaError_t convertElements(cudaStream_t, float *, const BFloat16 *, const CopyMap &);

cudaError_t roundArrays(cudaStream_t stream, std::span<const RoundedArray> arrays) {
  constexpr unsigned blocksForEach = 64;
  for (std::size_t first = 0; first < arrays.size(); first += maxRoundedArrays) {
    const auto part = arrays.subspan(first, std::min(arrays.size() - first, maxRoundedArrays));
    RoundedArrays argument{};
    std::copy(part.begin(), part.end(), argument.at);
    const cudaError_t launched =
        launch(roundArraysKernel, dim3(blocksForEach, static_cast<unsigned>(part.size())), stream,
               argument);
    if (launched != cudaSuccess)
      return launched;
  }
  return cudaSuccess;
}

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
