// How samples reach the device while the step before still runs.
#pragma once

#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/Event.h"
#include "runtime/cuda/HostWait.h"
#include "runtime/cuda/Program.h"

#include <array>
#include <map>
#include <memory>

namespace syncline::cuda {

/// Input and target have one place each, which the running step reads and captured steps name.
/// Samples therefore travel in two parts: from pinned memory, of which each tensor has two buffers
/// in turn, to a second place on the device, by a stream of its own beside the step; and from there
/// to the tensor, on the stream of the computation between two steps. The program outlives it.
/// Functions throw Failure.
class SampleFeed {
public:
  explicit SampleFeed(const Program &program);
  SampleFeed(const SampleFeed &) = delete;
  SampleFeed &operator=(const SampleFeed &) = delete;
  /// Waits for the copies.
  ~SampleFeed();

  /// Enqueues both copies for the next step. Waits only until a buffer is free. Precondition: the
  /// tensor is dense and has this size. Errors: those of `waits`; badInput where memory is short.
  Status write(int tensor, std::span<const std::byte> dense, const HostWait &waits);
  /// Bytes on the device.
  std::int64_t bytes() const;

private:
  struct FreeHost {
    void operator()(std::byte *memory) const { cudaFreeHost(memory); }
  };
  struct Pinned {
    std::unique_ptr<std::byte, FreeHost> memory;
    Event copied{EventUse::order}; ///< from this buffer
  };
  struct Place {
    std::array<Pinned, 2> buffers;
    std::size_t turn = 0;
    DeviceMemory second;
    Event taken{EventUse::order}; ///< out of `second`
  };
  Place &placeOf(int tensor, std::int64_t bytes);

  const Program &program;
  cudaStream_t stream = nullptr;
  std::map<int, Place> places; ///< by tensor
};

} // namespace syncline::cuda
