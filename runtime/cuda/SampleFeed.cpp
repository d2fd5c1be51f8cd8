// Buffers of samples, and the order of their copies.
#include "runtime/cuda/SampleFeed.h"

#include <cstring>

namespace syncline::cuda {

SampleFeed::SampleFeed(const Program &program) : program(program) {
  SYNCLINE_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

SampleFeed::~SampleFeed() {
  (void)statusOf("", [&] { program.device.makeCurrent(); });
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
}

SampleFeed::Place &SampleFeed::placeOf(int tensor, std::int64_t bytes) {
  if (const auto found = places.find(tensor); found != places.end())
    return found->second;
  program.expectRoom("the second place of samples", bytes);
  Place place;
  place.second = DeviceMemory(bytes);
  for (Pinned &buffer : place.buffers) {
    void *host = nullptr;
    SYNCLINE_CHECK(cudaMallocHost(&host, static_cast<std::size_t>(bytes)));
    buffer.memory.reset(static_cast<std::byte *>(host));
  }
  return places.emplace(tensor, std::move(place)).first->second;
}

Status SampleFeed::write(int tensor, std::span<const std::byte> dense, const HostWait &waits) {
  program.device.makeCurrent();
  Place &place = placeOf(tensor, static_cast<std::int64_t>(dense.size()));
  Pinned &buffer = place.buffers[place.turn];
  place.turn = 1 - place.turn;
  SYNCLINE_TRY(waits.until([&] { return buffer.copied.isReached(); }));
  std::memcpy(buffer.memory.get(), dense.data(), dense.size());
  place.taken.holdUp(stream);
  SYNCLINE_CHECK(cudaMemcpyAsync(place.second.data(), buffer.memory.get(), dense.size(),
                                 cudaMemcpyHostToDevice, stream));
  buffer.copied.record(stream);
  const cudaStream_t compute = program.device.compute;
  buffer.copied.holdUp(compute);
  SYNCLINE_CHECK(cudaMemcpyAsync(program.data({tensor}), place.second.data(), dense.size(),
                                 cudaMemcpyDeviceToDevice, compute));
  place.taken.record(compute);
  return Status::ok();
}

std::int64_t SampleFeed::bytes() const {
  std::int64_t sum = 0;
  for (const auto &[tensor, place] : places)
    sum += place.second.bytes();
  return sum;
}

} // namespace syncline::cuda
