// Running a prepared step, and copying tensors and state to and from the host. CudaUpdates.cpp has
// the updates.
#include "runtime/cuda/CudaExecutable.h"

#include "runtime/core/Formatted.h"
#include "runtime/core/Random.h"
#include "runtime/cuda/kernels/Kernels.h"

#include <limits>
#include <utility>

namespace syncline::cuda {

CudaExecutable::CudaExecutable(const core::ExecutableOptions &options)
    : PreparedExecutable(options, [this](std::int64_t bytes) { return allocateState(bytes); }) {
  norm.setMeanScale(meanScale());
}

std::byte *CudaExecutable::allocateState(std::int64_t bytes) {
  std::byte *data = nullptr;
  ofState = statusOf("", [&] {
    program.device.makeCurrent();
    program.expectRoom("the optimizer's state", bytes);
    DeviceMemory memory(bytes);
    SYNCLINE_CHECK(
        cudaMemsetAsync(memory.data(), 0, static_cast<std::size_t>(bytes), program.device.compute));
    SYNCLINE_CHECK(cudaStreamSynchronize(program.device.compute));
    data = state.emplace_back(std::move(memory)).data();
  });
  return data;
}

Status CudaExecutable::withReason(const Status &ofOptimizer) const {
  return ofOptimizer || ofState ? ofOptimizer : ofState;
}

Status CudaExecutable::finish() {
  if (program.table.hasFailed())
    return program.table.status();
  SYNCLINE_TRY(optimizer.checkTypes());
  const Status allocated = statusOf("", [&] {
    program.device.makeCurrent();
    program.allocateScratch();
    rates.allocate();
    if (!program.table.buckets.empty())
      clocks = DeviceMemory(
          static_cast<std::int64_t>(program.table.buckets.size() * sizeof(UpdateClock)));
  });
  SYNCLINE_TRY(allocated ? setUpdates(0) : allocated);
  return withReason(optimizer.finish());
}

Status CudaExecutable::transfer(int tensor, std::byte *data, std::byte *host, std::size_t bytes,
                                bool toHost) {
  const core::StepTensor &info = program.table.tensors[static_cast<std::size_t>(tensor)];
  const std::string what = "tensor '" + info.name + "': ";
  const std::int64_t expected = core::elementCount(info.shape) * core::elementBytes(info.type);
  if (bytes != static_cast<std::size_t>(expected))
    return Status::badInput(what + "expected " + std::to_string(expected) + " bytes, got " +
                            std::to_string(bytes));
  const Layout layout = program.placement({tensor}).layout;
  const bool isDense = layout == denseLayout(info);
  std::vector<std::byte> converted;
  if (!isDense)
    converted.resize(static_cast<std::size_t>(layoutBytes(layout, info.shape)));
  const std::span<std::byte> dense(host, bytes);
  const std::span<std::byte> stored = isDense ? dense : std::span<std::byte>(converted);
  if (!isDense && !toHost)
    fromDense(info, layout, dense, stored);
  return statusOf(what, [&] {
    program.device.makeCurrent();
    program.device.copy(toHost ? stored.data() : data, toHost ? data : stored.data(), stored.size(),
                        toHost ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
    if (!isDense && toHost)
      toDense(info, layout, stored, dense);
  });
}

Status CudaExecutable::read(int tensor, std::span<std::byte> dense) {
  if (!program.table.isDeclared({tensor}))
    return Status::error(ErrorKind::internal, "no such tensor");
  return transfer(tensor, program.data({tensor}), dense.data(), dense.size(), true);
}

Status CudaExecutable::write(int tensor, std::span<const std::byte> dense) {
  if (!program.table.isDeclared({tensor}))
    return Status::error(ErrorKind::internal, "no such tensor");
  if (program.table.of({tensor}).space == Space::parameters)
    program.weights.touch();
  return transfer(tensor, program.data({tensor}), const_cast<std::byte *>(dense.data()),
                  dense.size(), false);
}

/// Values that would have to be converted, or are too few, are write()'s.
Status CudaExecutable::feed(int tensor, std::span<const std::byte> dense) {
  if (!program.table.isDeclared({tensor}))
    return write(tensor, dense);
  const core::StepTensor &info = program.table.of({tensor});
  const std::int64_t expected = core::elementCount(info.shape) * core::elementBytes(info.type);
  if (std::ssize(dense) != expected || program.placement({tensor}).layout != denseLayout(info))
    return write(tensor, dense);
  Status done = Status::ok();
  const Status told = statusOf("tensor '" + info.name + "': ", [&] {
    if (!samples)
      samples.emplace(program);
    done = samples->write(tensor, dense, waits);
  });
  return told ? done : told;
}

Status CudaExecutable::transferState(const core::StateInterval &interval, std::byte *host,
                                     std::size_t bytes, bool toHost) {
  SYNCLINE_TRY_GET(data, optimizer.stateOf(interval, bytes));
  return statusOf("the optimizer's state: ", [&] {
    program.device.makeCurrent();
    program.device.copy(toHost ? host : *data, toHost ? *data : host, bytes,
                        toHost ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
  });
}

Status CudaExecutable::readState(const core::StateInterval &interval, std::span<std::byte> raw) {
  return transferState(interval, raw.data(), raw.size(), true);
}

Status CudaExecutable::writeState(const core::StateInterval &interval,
                                  std::span<const std::byte> raw) {
  return transferState(interval, const_cast<std::byte *>(raw.data()), raw.size(), false);
}

void CudaExecutable::beginStep(std::int64_t step) {
  begun = statusOf("the step's start: ", [&] {
    program.device.makeCurrent();
    program.fillUnwritten();
    SYNCLINE_CHECK(setStepNumber(program.device.compute, program.step, step));
    present = step;
    turn = takesTurns() ? static_cast<std::size_t>(step % 2) : 0;
    part = 0;
    rates.begin(turn);
    stepStart().recordEach(program.device.compute);
  });
}

void CudaExecutable::beginMicroBatch(std::int64_t microBatch) {
  if (begun)
    begun = statusOf("the micro-batch's start: ", [&] {
      program.device.makeCurrent();
      SYNCLINE_CHECK(setStepNumber(program.device.compute, program.step, microBatch));
    });
}

/// The operation's name for messages: "layer 'x': conv".
static std::string nameOf(const core::OperationInfo &info) {
  return info.layer.empty() ? info.name : "layer '" + info.layer + "': " + info.name;
}

void CudaExecutable::carryOut(int operation) {
  const core::OperationInfo &info = program.table.operations[static_cast<std::size_t>(operation)];
  if (isCapturing())
    graphs[turn][part].note("what was told before " + nameOf(info));
  else
    program.weights.refresh();
  if (info.kind == core::OperationKind::update) {
    // The step before has computed the gradients of a carried bucket.
    const std::size_t ofTurn = program.table.isCarried(info.bucket) ? 1 - turn : turn;
    update(info.bucket, optimizer.updates(*program.table.findBucket(info.bucket)),
           program.device.compute, replayedRate(ofTurn));
  }
  for (const Command &command : program.commands[static_cast<std::size_t>(operation)])
    command();
  if (isCapturing())
    graphs[turn][part].note(nameOf(info));
}

Status CudaExecutable::run(int operation) {
  const Status done = statusOf("", [&] { carryOut(operation); });
  if (done)
    return isCapturing() ? done : throttle.follow(waits, program.device.compute);
  const core::OperationInfo &info = program.table.operations[static_cast<std::size_t>(operation)];
  return Status::error(done.kind(), nameOf(info) + ": " + done.message());
}

Status CudaExecutable::beginCapture() {
  return statusOf("capturing the step: ", [&] {
    program.weights.refresh(); // the captured step finds copies as each replay will
    graphs[turn][part].begin(program.device.compute);
    if (part == 0)
      stepStart().recordEach(program.device.compute);
  });
}

Status CudaExecutable::endCapture() {
  return statusOf("capturing the step: ", [&] { graphs[turn][part].end(); });
}

Status CudaExecutable::replay() {
  if (!isCaptured())
    return Status::error(ErrorKind::internal, "no step of this optimizer has been captured");
  return statusOf("the captured step: ", [&] {
    program.weights.refresh();
    graphs[turn][part].launch();
  });
}

Status CudaExecutable::synchronize() {
  if (!begun)
    return begun;
  return waits.until([this] {
    const cudaError_t status = cudaStreamQuery(program.device.compute);
    if (status == cudaErrorNotReady)
      cudaGetLastError(); // clears the error, which the next launch would otherwise report again
    else
      check(status, "the step's operations");
    return status == cudaSuccess;
  });
}

Status CudaExecutable::waitFor(const Event &event) {
  return waits.until([&] { return event.isReached(); });
}

double CudaExecutable::loss() {
  const bool isThere = program.hasLoss && synchronize();
  return isThere ? *program.loss : std::numeric_limits<double>::quiet_NaN();
}

std::string CudaExecutable::layoutFingerprint() const {
  std::uint64_t hash = core::stableHash("cuda");
  for (std::size_t i = 0; i < program.table.tensors.size(); ++i) {
    const core::StepTensor &tensor = program.table.tensors[i];
    if (tensor.space == Space::parameters || tensor.space == Space::gradients)
      hash = core::stableHash(tensor.name + "@" + std::to_string(tensor.offset) + " " +
                                  describe(program.placements[i].layout) +
                                  core::shapeText(tensor.shape) + ";",
                              hash);
  }
  return core::formatted("%016llx", static_cast<unsigned long long>(hash));
}

} // namespace syncline::cuda
