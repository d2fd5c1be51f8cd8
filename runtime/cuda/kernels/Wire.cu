// Converting elements of messages, by accesses of 16 bytes where addresses allow it.
#include "runtime/cuda/kernels/Launch.cuh"
#include "runtime/cuda/kernels/Rounding.h"
#include "runtime/cuda/kernels/WireKernels.h"

namespace syncline::cuda {

using core::WirePrecision;

namespace {

struct Bf16 {
  std::uint16_t bits;
  __device__ static Bf16 of(float value) { return {roundedToBf16(value)}; }
  __device__ float value() const { return widenedBf16(bits); }
};

struct Fp16 {
  std::uint16_t bits;
  __device__ static Fp16 of(float value) { return {roundedToF16(value)}; }
  __device__ float value() const { return widenedF16(bits); }
};

struct Fp32 {
  float bits;
  __device__ static Fp32 of(float value) { return {value}; }
  __device__ float value() const { return bits; }
};

template <typename T> struct alignas(16) Pack {
  static constexpr int count = 16 / static_cast<int>(sizeof(T));
  T at[count];
};

/// Eight 16-bit elements converted to f32.
struct alignas(16) Wide {
  float at[8];
};

bool isAligned(const void *pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

template <typename T>
__global__ void roundKernel(const float *from, T *to, std::int64_t packs, std::int64_t n) {
  forEachElement(packs, [&](std::int64_t i) {
    const Wide wide = reinterpret_cast<const Wide *>(from)[i];
    Pack<T> narrow;
    for (int k = 0; k < 8; ++k)
      narrow.at[k] = T::of(wide.at[k]);
    reinterpret_cast<Pack<T> *>(to)[i] = narrow;
  });
  forEachElement(n - 8 * packs, [&](std::int64_t rest) {
    const std::int64_t i = 8 * packs + rest;
    to[i] = T::of(from[i]);
  });
}

template <typename T>
__global__ void widenKernel(const T *from, float *to, std::int64_t packs, std::int64_t n) {
  forEachElement(packs, [&](std::int64_t i) {
    const Pack<T> narrow = reinterpret_cast<const Pack<T> *>(from)[i];
    Wide wide;
    for (int k = 0; k < 8; ++k)
      wide.at[k] = narrow.at[k].value();
    reinterpret_cast<Wide *>(to)[i] = wide;
  });
  forEachElement(n - 8 * packs, [&](std::int64_t rest) {
    const std::int64_t i = 8 * packs + rest;
    to[i] = from[i].value();
  });
}

/// P is an element or a pack of elements; `stride` counts them.
template <typename T, typename P>
__device__ void sumOne(P *own, const P *others, std::int64_t stride, int rank, int ranks,
                       std::int64_t i) {
  constexpr int count = sizeof(P) / sizeof(T);
  float sums[count] = {};
  for (int r = 0; r < ranks; ++r) {
    const P part = r == rank ? own[i] : others[r * stride + i];
    for (int k = 0; k < count; ++k) {
      const float value = reinterpret_cast<const T *>(&part)[k].value();
      sums[k] = r == 0 ? value : sums[k] + value;
    }
  }
  P rounded;
  for (int k = 0; k < count; ++k)
    reinterpret_cast<T *>(&rounded)[k] = T::of(sums[k]);
  own[i] = rounded;
}

template <typename T>
__global__ void sumKernel(T *own, const T *others, std::int64_t stride, int rank, int ranks,
                          std::int64_t packs, std::int64_t n) {
  constexpr int count = Pack<T>::count;
  forEachElement(packs, [&](std::int64_t i) {
    sumOne<T>(reinterpret_cast<Pack<T> *>(own), reinterpret_cast<const Pack<T> *>(others),
              stride / count, rank, ranks, i);
  });
  forEachElement(n - count * packs, [&](std::int64_t rest) {
    sumOne<T>(own, others, stride, rank, ranks, count * packs + rest);
  });
}

template <typename T>
cudaError_t roundTo(cudaStream_t stream, const float *from, void *to, std::int64_t n) {
  const std::int64_t packs = isAligned(from) && isAligned(to) ? n / 8 : 0;
  return launch(roundKernel<T>, blocksFor(packs > 0 ? packs : n), stream, from,
                static_cast<T *>(to), packs, n);
}

template <typename T>
cudaError_t widenFrom(cudaStream_t stream, const void *from, float *to, std::int64_t n) {
  const std::int64_t packs = isAligned(from) && isAligned(to) ? n / 8 : 0;
  return launch(widenKernel<T>, blocksFor(packs > 0 ? packs : n), stream,
                static_cast<const T *>(from), to, packs, n);
}

template <typename T>
cudaError_t sumOf(cudaStream_t stream, void *own, const void *others, std::int64_t stride, int rank,
                  int ranks, std::int64_t n) {
  constexpr int count = Pack<T>::count;
  const bool inPacks = isAligned(own) && isAligned(others) && stride % count == 0;
  const std::int64_t packs = inPacks ? n / count : 0;
  return launch(sumKernel<T>, blocksFor(packs > 0 ? packs : n), stream, static_cast<T *>(own),
                static_cast<const T *>(others), stride, rank, ranks, packs, n);
}

/// Calls by.template operator()<T>() with the wire's type, which fp32 is only if `takesF32`. Does
/// nothing where there are no elements.
template <bool takesF32, typename By>
cudaError_t withType(WirePrecision wire, std::int64_t n, const By &by) {
  if (n == 0)
    return cudaSuccess;
  switch (wire) {
  case WirePrecision::bf16:
    return by.template operator()<Bf16>();
  case WirePrecision::fp16:
    return by.template operator()<Fp16>();
  case WirePrecision::fp32:
    if constexpr (takesF32)
      return by.template operator()<Fp32>();
    break;
  }
  return cudaErrorInvalidValue;
}

} // namespace

cudaError_t roundToWire(cudaStream_t stream, const float *from, void *to, std::int64_t n,
                        WirePrecision wire) {
  return withType<false>(wire, n, [=]<typename T>() { return roundTo<T>(stream, from, to, n); });
}

cudaError_t widenFromWire(cudaStream_t stream, const void *from, float *to, std::int64_t n,
                          WirePrecision wire) {
  return withType<false>(wire, n, [=]<typename T>() { return widenFrom<T>(stream, from, to, n); });
}

cudaError_t sumOfRanks(cudaStream_t stream, void *own, const void *others, std::int64_t stride,
                       int rank, int ranks, std::int64_t n, WirePrecision wire) {
  return withType<true>(
      wire, n, [=]<typename T>() { return sumOf<T>(stream, own, others, stride, rank, ranks, n); });
}

} // namespace syncline::cuda
