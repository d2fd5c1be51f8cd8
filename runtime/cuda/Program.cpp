// Allocating the memory of a step.
#include "runtime/cuda/Program.h"

#include "runtime/cuda/MemoryText.h"
#include "runtime/cuda/NormSums.h"
#include "runtime/cuda/dnn/ConvolutionEngines.h"
#include "runtime/cuda/kernels/BatchNormKernels.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

namespace {

constexpr std::array<Space, core::spaceCount> allSpaces{
    Space::input, Space::target, Space::parameters, Space::gradients, Space::state, Space::arena};

/// Bytes free on the current device.
std::int64_t freeMemory() {
  std::size_t free = 0, total = 0;
  SYNCLINE_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free);
}

/// The use of a space's memory. Spaces with buckets are also used by messages.
MemoryUse useOf(Space space, int ranks) {
  const bool hasBuckets = space == Space::gradients || space == Space::parameters;
  return ranks > 1 && hasBuckets ? MemoryUse::messages : MemoryUse::computation;
}

/// Whether `allocate` succeeded. Throws failures other than short memory.
template <typename F> bool fits(F &&allocate) {
  try {
    allocate();
    return true;
  } catch (const Failure &failure) {
    if (failure.kind != ErrorKind::badInput)
      throw;
    return false;
  }
}

} // namespace

Program::Program(const core::ExecutableOptions &options)
    : options(options), table(options.sizes), device(options.device) {
  allocateSpaces();
  void *host = nullptr;
  SYNCLINE_CHECK(cudaMallocHost(&host, sizeof *loss + sizeof *keptFlag));
  loss = static_cast<float *>(host);
  keptFlag = reinterpret_cast<std::int32_t *>(loss + 1);
  *keptFlag = 0;
}

Program::~Program() {
  cudaSetDevice(device.index);
  cudaStreamSynchronize(device.compute);
  cudaStreamSynchronize(device.channel);
  if (loss)
    cudaFreeHost(loss);
}

void Program::allocateSpaces() {
  const std::int64_t free = freeMemory();
  const bool have = totalBytes(options.sizes) + headroom <= free && fits([&] {
                      for (Space which : allSpaces)
                        spaces[static_cast<int>(which)] =
                            DeviceMemory(options.sizes.of(which), useOf(which, options.ranks));
                      stepNumber = DeviceMemory(sizeof *step);
                      counters = DeviceMemory(cuda::columnCounters * sizeof(std::uint32_t));
                    });
  if (!have) {
    spaces = {};
    shortage = free;
    return;
  }
  step = reinterpret_cast<std::int64_t *>(stepNumber.data());
  SYNCLINE_CHECK(setStepNumber(device.compute, step, 0));
  const auto clear = [&](const DeviceMemory &memory) {
    if (memory.bytes() > 0)
      SYNCLINE_CHECK(cudaMemsetAsync(memory.data(), 0, static_cast<std::size_t>(memory.bytes()),
                                     device.compute));
  };
  for (const DeviceMemory &memory : spaces)
    clear(memory);
  clear(counters);
  SYNCLINE_CHECK(cudaStreamSynchronize(device.compute));
}

std::byte *Program::data(Tensor tensor) const {
  const core::StepTensor &info = table.of(tensor);
  return space(info.space).data() + info.offset;
}

void Program::declare(const core::StepTensor &tensor) {
  const bool isFixed = tensor.space == Space::input || tensor.space == Space::target;
  placements.push_back({denseLayout(tensor), isFixed, false, nullptr});
}

void Program::layOut(Tensor tensor, const Layout &wanted) {
  const core::StepTensor &info = table.of(tensor);
  const bool mayRound = info.space == Space::arena && info.type == ElementType::f32;
  const ElementType type = info.isRounded ? ElementType::bf16 : mayRound ? wanted.type : info.type;
  const Layout layout = normalized({type, wanted.isChannelsLast}, info.shape);
  for (Tensor each : {tensor, table.counterpart(tensor)})
    if (each.isValid()) {
      placement(each).layout = layout;
      placement(each).isLaidOut = true;
    }
}

KeptCopy &Program::keep(Tensor tensor, const Layout &layout) {
  for (KeptCopy &copy : kept)
    if (copy.tensor == tensor.id && copy.layout == layout)
      return copy;
  const std::int64_t bytes = layoutBytes(layout, table.of(tensor).shape);
  return kept.emplace_back(KeptCopy{tensor.id, layout, reserveKept(bytes), false});
}

/// As far from the first copy as the parameter is from the first parameter.
Scratch Program::roundedPlace(Tensor tensor) const {
  const core::StepTensor &info = table.of(tensor);
  return {info.offset / 2, core::elementCount(info.shape) * 2, Room::weights};
}

void Program::changed(Space space, std::int64_t offset, std::int64_t bytes) {
  closeNorms(*this, space, offset, bytes);
  if (space == Space::parameters)
    weights.changed(offset, bytes);
  for (KeptCopy &copy : kept) {
    const core::StepTensor &tensor = table.of({copy.tensor});
    if (tensor.space == space && tensor.offset < offset + bytes &&
        offset < tensor.offset + tensor.reserved)
      copy.isFresh = false;
  }
}

void Program::expectRoom(const std::string &what, std::int64_t bytes) const {
  const std::int64_t free = freeMemory();
  if (bytes + headroom > free)
    throw Failure{ErrorKind::badInput, "not enough memory on " + device.name + ": " + what +
                                           " needs " + bytesText(bytes) + " and libraries " +
                                           bytesText(headroom) + ", " + bytesText(free) +
                                           " are free beside the plan"};
}

void Program::allocateScratch() {
  passing = scratchPlan.bytes() + keptPlan.bytes();
  const auto [weightsBegin, weightsBytes] = weights.extent();
  begins = {0, scratchPlan.bytes(), passing - weightsBegin / 2};
  const std::int64_t bytes = passing + weightsBytes / 2;
  const std::int64_t free = freeMemory();
  if (!shortage && (bytes + expected + headroom > free || !fits([&] {
                      scratch = DeviceMemory(bytes);
                      workspace = DeviceMemory(expected);
                    })))
    shortage = totalBytes(options.sizes) + free;
  if (shortage)
    throw Failure{ErrorKind::badInput, shortageText(options.sizes, bytes + expected, headroom,
                                                    *shortage, device.name, table.tensors)};
  if (core::fillsUnwritten())
    unwritten = core::unwrittenRanges(table);
}

void Program::fillUnwritten() const {
  const auto fill = [&](const DeviceMemory &memory, std::int64_t offset, std::int64_t bytes) {
    SYNCLINE_CHECK(cudaMemsetAsync(memory.data() + offset, core::nanByte,
                                   static_cast<std::size_t>(bytes), device.compute));
  };
  for (const core::SpaceRange &range : unwritten)
    fill(space(range.space), range.offset, range.bytes);
  if (unwritten.empty())
    return;
  if (passing > 0)
    fill(scratch, 0, passing);
  if (workspace.bytes() > 0)
    fill(workspace, 0, workspace.bytes());
}

bool Program::growWorkspace(std::int64_t bytes) {
  if (bytes <= workspace.bytes())
    return true;
  SYNCLINE_CHECK(cudaStreamSynchronize(device.compute));
  workspace = {}; // first, so that both need not fit
  if (bytes <= freeMemory() && fits([&] { workspace = DeviceMemory(bytes); }))
    return true;
  workspace = DeviceMemory(expected);
  return false;
}

void Program::fitWorkspace() {
  expected = 0;
  for (const auto &engines : convolutions)
    expectWorkspace(static_cast<std::int64_t>(*engines->best().workspace));
  if (workspace.bytes() == expected)
    return;
  SYNCLINE_CHECK(cudaStreamSynchronize(device.compute));
  workspace = {};
  workspace = DeviceMemory(expected);
}

} // namespace syncline::cuda
