// The CPU backend's Executable: memory, running, and dense access to tensors in any layout.
#include "runtime/cpu/CpuBackend.h"
#include "runtime/core/Clipping.h"
#include "runtime/core/Deadline.h"
#include "runtime/core/Formatted.h"
#include "runtime/core/HostArithmetic.h"
#include "runtime/core/PreparedExecutable.h"
#include "runtime/core/Random.h"
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/InstructionSets.h"
#include "runtime/cpu/Lamb.h"
#include "runtime/cpu/Program.h"
#include "runtime/cpu/Squares.h"
#include "runtime/cpu/Update.h"

#include <omp.h>
#include <sys/sysinfo.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace syncline::cpu {

namespace {

constexpr std::array<Space, core::spaceCount> allSpaces{
    Space::input, Space::target, Space::parameters, Space::gradients, Space::state, Space::arena};

std::int64_t denseBytes(const core::StepTensor &tensor) {
  return core::elementCount(tensor.shape) * core::elementBytes(tensor.type);
}

/// What all processes together can have, since Linux grants more and ends a process that uses it.
double machineBytes() {
  struct sysinfo machine{};
  if (sysinfo(&machine) != 0)
    return std::numeric_limits<double>::infinity();
  return (static_cast<double>(machine.totalram) + static_cast<double>(machine.totalswap)) *
         machine.mem_unit;
}

/// The options with a precision that this processor has.
core::ExecutableOptions supported(core::ExecutableOptions options) {
  if (!hasPrecision(options.precision))
    options.precision = core::Precision::fp32;
  return options;
}

class CpuExecutable final : public core::PreparedExecutable<Program, CpuBuilder> {
public:
  explicit CpuExecutable(const core::ExecutableOptions &options)
      : PreparedExecutable(supported(options), [this](std::int64_t bytes) {
          return state.emplace_back(bytes).data();
        }) {}

  Status allocate();
  /// Takes memory of the executable that the options say, where they say one.
  Status share();

  Status finish() override;

  core::Interval space(Space space) override {
    core::HostMemory &memory = program.spaces[static_cast<int>(space)];
    return {memory.data(), memory.bytes()};
  }

  Status read(int tensor, std::span<std::byte> dense) override;
  Status write(int tensor, std::span<const std::byte> dense) override;
  Status readState(const core::StateInterval &interval, std::span<std::byte> raw) override;
  Status writeState(const core::StateInterval &interval, std::span<const std::byte> raw) override;

  Status setOptimizer(const core::OptimizerOptions &options) override {
    return optimizer.setOptimizer(options);
  }
  Status setRules(const std::map<int, core::ParameterRule> &rules) override {
    return optimizer.setRules(rules);
  }
  Status setUpdates(std::int64_t made) override { return optimizer.setUpdates(made); }
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes) override {
    return optimizer.takeShard(bucket, begin, bytes);
  }
  Status updateShard(int bucket, const core::SumOverRanks &sum) override;

  void beginStep(std::int64_t step) override {
    program.step = step;
    program.fillUnwritten();
  }
  Status run(int operation) override;
  Status synchronize() override { return Status::ok(); }
  Status mark(int place) override;
  Result<std::vector<double>> marks() override;
  double loss() override { return program.loss; }
  Status addSquares(int bucket) override;
  Result<double *> shardSquares() override { return squares.joinParts(); }
  double gradientNorm() override;
  Status setLossScale(double scale) override {
    program.lossScale = scale;
    return Status::ok();
  }
  bool metNonFinite() override { return keptElements.exchange(false); }

  std::string layout(int tensor) const override {
    return describe(program.placements[static_cast<std::size_t>(tensor)].layout);
  }
  std::string layoutFingerprint() const override;
  core::WeightArithmetic &weights() override { return arithmetic; }
  std::int64_t extraBytes() const override { return program.scratch.bytes() + optimizer.bytes(); }

private:
  Status transfer(int tensor, std::byte *data, std::byte *dense, std::size_t bytes,
                  bool toDense) override;
  Status update(int bucket, std::span<const core::Optimizer::Update> updates,
                const core::SumOverRanks &sum = {});
  UpdateOperands operandsOf(const core::Optimizer::Update &what);

  std::vector<core::HostMemory> state;
  SquareSums squares;
  std::atomic<bool> keptElements = false;      ///< atomic, because a channel's thread updates too
  std::vector<core::Clock::time_point> marked; ///< time of each mark, by place
  core::HostArithmetic arithmetic;
};

Status CpuExecutable::allocate() {
  omp_set_num_threads(program.options.threads);
  double needed = 0;
  for (Space space : allSpaces)
    needed += static_cast<double>(program.options.sizes.of(space));
  // Scratch, other ranks and limits of containers are not counted.
  if (const double all = machineBytes(); needed > all)
    return Status::badInput(core::formatted(
        "not enough memory: the plan needs %.1f GiB, this machine has %.1f GiB with swap",
        needed / (1 << 30), all / (1 << 30)));
  SYNCLINE_TRY(share());
  for (Space space : allSpaces) {
    core::HostMemory &memory = program.spaces[static_cast<int>(space)];
    if (memory.data())
      continue;
    memory = core::HostMemory(program.options.sizes.of(space));
    if (!memory.isValid())
      return Status::badInput("not enough memory for " +
                              std::to_string(program.options.sizes.of(space)) + " bytes");
  }
  return Status::ok();
}

Status CpuExecutable::share() {
  if (!program.options.shares)
    return Status::ok();
  const auto *const other = dynamic_cast<const CpuExecutable *>(program.options.shares);
  if (!other)
    return Status::error(ErrorKind::internal, "memory is shared with another backend's step");
  program.shared = &other->program;
  for (Space space : {Space::parameters, Space::gradients, Space::arena}) {
    const core::HostMemory &whole = other->program.spaces[static_cast<int>(space)];
    const std::int64_t bytes = program.options.sizes.of(space);
    if (space != Space::arena && bytes != whole.bytes())
      return Status::badInput("expected " + std::to_string(whole.bytes()) +
                              " bytes of parameters and of gradients, as the step has whose memory "
                              "this one shares, got " +
                              std::to_string(bytes));
    if (bytes <= whole.bytes())
      program.spaces[static_cast<int>(space)] = core::HostMemory::partOf(whole, bytes);
  }
  return Status::ok();
}

Status CpuExecutable::finish() {
  if (program.table.hasFailed())
    return program.table.status();
  SYNCLINE_TRY(optimizer.checkTypes());
  for (int id = 0; id < static_cast<int>(program.placements.size()); ++id)
    if (!program.placements[id].isLaidOut)
      program.layOut({id}, program.placements[id].layout);
  if (!program.allocateScratch())
    return Status::badInput("not enough memory for scratch");
  return optimizer.finish();
}

Status CpuExecutable::transfer(int tensor, std::byte *data, std::byte *dense, std::size_t bytes,
                               bool toDense) {
  if (tensor < 0 || tensor >= static_cast<int>(program.table.tensors.size()))
    return Status::error(ErrorKind::internal, "no such tensor");
  const core::StepTensor &info = program.table.tensors[tensor];
  const std::string what = "tensor '" + info.name + "'";
  if (bytes != static_cast<std::size_t>(denseBytes(info)))
    return Status::badInput(what + ": expected " + std::to_string(denseBytes(info)) +
                            " bytes, got " + std::to_string(bytes));
  const Layout &layout = program.placements[tensor].layout;
  const bool isRounded = cpu::isRounded(info.type, layout.data_type());
  if (isPlain(layout) && !isRounded) {
    std::memcpy(toDense ? dense : data, toDense ? data : dense, bytes);
    return Status::ok();
  }
  try {
    dnnl::memory inside(layout, program.engine, data);
    const Layout declared = isRounded ? withType(layout, DataType::f32) : layout;
    dnnl::memory outside(plainLike(declared), program.engine, dense);
    dnnl::memory &from = toDense ? inside : outside, &to = toDense ? outside : inside;
    dnnl::reorder(from, to).execute(program.stream, from, to);
    program.stream.wait();
  } catch (const dnnl::error &error) {
    return Status::error(ErrorKind::internal,
                         what + ": cannot convert its layout: " + error.what());
  }
  return Status::ok();
}

Status CpuExecutable::read(int tensor, std::span<std::byte> dense) {
  std::byte *data = program.table.isDeclared({tensor}) ? program.placements[tensor].data : nullptr;
  return transfer(tensor, data, dense.data(), dense.size(), true);
}

Status CpuExecutable::write(int tensor, std::span<const std::byte> dense) {
  std::byte *data = program.table.isDeclared({tensor}) ? program.placements[tensor].data : nullptr;
  return transfer(tensor, data, const_cast<std::byte *>(dense.data()), dense.size(), false);
}

Status CpuExecutable::readState(const core::StateInterval &interval, std::span<std::byte> raw) {
  const Result<std::byte *> data = optimizer.stateOf(interval, raw.size());
  if (data)
    std::memcpy(raw.data(), *data, raw.size());
  return data.status();
}

Status CpuExecutable::writeState(const core::StateInterval &interval,
                                 std::span<const std::byte> raw) {
  const Result<std::byte *> data = optimizer.stateOf(interval, raw.size());
  if (data)
    std::memcpy(*data, raw.data(), raw.size());
  return data.status();
}

/// Operations run on the calling thread, so reading the clock measures them; it takes tens
/// of nanoseconds.
Status CpuExecutable::mark(int place) {
  const auto i = static_cast<std::size_t>(place);
  if (marked.size() <= i)
    marked.resize(i + 1);
  marked[i] = core::Clock::now();
  return Status::ok();
}

Result<std::vector<double>> CpuExecutable::marks() {
  std::vector<double> seconds;
  for (const core::Clock::time_point at : marked)
    seconds.push_back(std::chrono::duration<double>(at - marked.front()).count());
  return seconds;
}

Status CpuExecutable::updateShard(int bucket, const core::SumOverRanks &sum) {
  SYNCLINE_TRY_GET(own, optimizer.shardUpdates(bucket));
  // A channel's thread uses one processor and leaves the others to the computation. The network is
  // slower than the update anyway.
  omp_set_num_threads(program.options.ranks == 1 ? program.options.threads : 1);
  SYNCLINE_TRY(sum ? Status::ok() : optimizer.expectWhole(bucket));
  return update(bucket, *own, sum);
}

Status CpuExecutable::addSquares(int bucket) {
  const core::Bucket &of = *program.table.findBucket(bucket);
  omp_set_num_threads(program.options.threads); // applies to the calling thread only
  const auto squaresFrom = [this](std::int64_t begin, std::int64_t bytes) {
    const std::byte *const data = program.spaces[static_cast<int>(Space::gradients)].data() + begin;
    return squaresOf(reinterpret_cast<const float *>(data),
                     bytes / static_cast<std::int64_t>(sizeof(float)));
  };
  if (of.scheme != Scheme::reduceScatter) {
    squares.whole[bucket] = squaresFrom(of.offset, of.extent);
    return Status::ok();
  }
  SYNCLINE_TRY_GET(own, optimizer.shardUpdates(bucket));
  double &sum = squares.parts[bucket];
  sum = 0;
  for (const core::Optimizer::Update &part : *own)
    sum += squaresFrom(part.begin, part.bytes);
  return Status::ok();
}

double CpuExecutable::gradientNorm() {
  if (squares.isEmpty())
    return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(squares.total()) * meanScale();
}

UpdateOperands CpuExecutable::operandsOf(const core::Optimizer::Update &what) {
  const auto in = [&](Space space) {
    std::byte *data = program.spaces[static_cast<int>(space)].data() + what.begin;
    return reinterpret_cast<float *>(data);
  };
  return {in(Space::parameters),
          in(Space::gradients),
          {reinterpret_cast<float *>(what.state[0]), reinterpret_cast<float *>(what.state[1])},
          what.bytes / static_cast<std::int64_t>(sizeof(float))};
}

Status CpuExecutable::update(int bucket, std::span<const core::Optimizer::Update> updates,
                             const core::SumOverRanks &sum) {
  const std::int64_t count = optimizer.countUpdate(bucket);
  const core::OptimizerOptions &all = optimizer.current();
  const double factor = squares.isEmpty() ? 1 : core::clipFactor(gradientNorm(), all.clipNorm);
  const double scale = meanScale() * factor;
  const core::AdamCorrection correction = core::adamCorrection(all.beta1, all.beta2, count);
  if (!needsWholeParameters(all.kind)) {
    for (const core::Optimizer::Update &what : updates)
      if (updateElements(operandsOf(what), what.options, scale, correction))
        keptElements = true;
    return Status::ok();
  }
  std::vector<LambPart> parts;
  for (const core::Optimizer::Update &what : updates)
    parts.push_back({operandsOf(what), what.options, what.place});
  const Result<bool> kept =
      updateByNorms(parts, scale, correction, optimizer.parametersOf(bucket), sum);
  if (kept && *kept)
    keptElements = true;
  return kept.status();
}

Status CpuExecutable::run(int operation) {
  const core::OperationInfo &info = program.table.operations[operation];
  omp_set_num_threads(program.options.threads); // applies to the calling thread only
  if (info.kind == core::OperationKind::update)
    SYNCLINE_TRY(update(info.bucket, optimizer.updates(*program.table.findBucket(info.bucket))));
  const auto where = [&] { return "layer '" + info.layer + "': " + info.name; };
  try {
    for (const Command &command : program.commands[operation]) {
      if (command.call)
        command.call();
      else
        command.primitive.execute(program.stream, command.arguments);
    }
  } catch (const std::bad_alloc &) {
    return Status::badInput(where() + ": out of memory");
  } catch (const std::exception &error) { // oneDNN's, too
    return Status::error(ErrorKind::internal, where() + " failed: " + error.what());
  }
  return Status::ok();
}

std::string CpuExecutable::layoutFingerprint() const {
  std::uint64_t hash = core::stableHash(program.rounds() ? "cpu bf16" : "cpu");
  for (std::size_t id = 0; id < program.table.tensors.size(); ++id) {
    const core::StepTensor &tensor = program.table.tensors[id];
    if (tensor.space == Space::parameters || tensor.space == Space::gradients ||
        program.placements[id].isGathered)
      hash = core::stableHash(tensor.name + "@" + std::to_string(tensor.offset) + " " +
                                  describe(program.placements[id].layout) + ";",
                              hash);
  }
  return core::formatted("%016llx", static_cast<unsigned long long>(hash));
}

} // namespace

bool hasPrecision(core::Precision precision) {
  switch (precision) {
  case core::Precision::fp32:
    return true;
  case core::Precision::tf32:
    return false;
  case core::Precision::bf16:
    break;
  }
  switch (oneDnnIsa()) {
  case dnnl::cpu_isa::avx512_core_bf16:
  case dnnl::cpu_isa::avx512_core_amx:
    return true;
  default: // oneDNN's enumeration: all others only emulate bf16, slower than they compute f32
    return false;
  }
}

Result<std::unique_ptr<core::Executable>>
createCpuExecutable(const core::ExecutableOptions &options) {
  SYNCLINE_TRY(instructionSets());
  try {
    auto executable = std::make_unique<CpuExecutable>(options);
    SYNCLINE_TRY(executable->allocate());
    return std::unique_ptr<core::Executable>(std::move(executable));
  } catch (const dnnl::error &error) {
    return Status::error(ErrorKind::internal, std::string("oneDNN did not start: ") + error.what());
  }
}

} // namespace syncline::cpu
