// The CPU backend's Executable: memory, running, and dense access to tensors in any layout.
#include "runtime/cpu/CpuBackend.h"
#include "runtime/core/Random.h"
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/Program.h"
#include "runtime/cpu/Sgd.h"
#include "runtime/cpu/Velocities.h"

#include <omp.h>

#include <cstdio>
#include <cstring>
#include <map>

namespace syncline::cpu {

namespace {

constexpr std::array<Space, spaceCount> allSpaces{
    Space::input, Space::target, Space::parameters, Space::gradients, Space::state, Space::arena};

/// Whether a parameter or gradient belongs to the bucket.
bool holds(const Bucket &bucket, const StepTensor &tensor) {
  return tensor.offset >= bucket.offset && tensor.offset < bucket.offset + bucket.extent;
}

std::int64_t denseBytes(const StepTensor &tensor) {
  return elementCount(tensor.shape) * elementBytes(tensor.type);
}

class CpuExecutable final : public Executable {
public:
  explicit CpuExecutable(const ExecutableOptions &options) : program(options), steps(program) {}

  Status allocate();

  StepBuilder &builder() override { return steps; }
  Status finish() override;

  std::span<const OperationInfo> operations() const override { return program.table.operations; }
  std::span<const Bucket> buckets() const override { return program.table.buckets; }
  std::span<const StepTensor> tensors() const override { return program.table.tensors; }
  int find(Space space, std::string_view name) const override {
    return program.table.find(space, name);
  }

  Interval space(Space space) override {
    HostMemory &memory = program.spaces[static_cast<int>(space)];
    return {memory.data(), memory.bytes()};
  }

  Status read(int tensor, std::span<std::byte> dense) override;
  Status write(int tensor, std::span<const std::byte> dense) override;
  Status readVelocity(int parameter, std::span<std::byte> dense) override;
  Status writeVelocity(int parameter, std::span<const std::byte> dense) override;

  Status setOptimizer(const SgdOptions &options) override;
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes) override;
  Status updateShard(int bucket) override;

  void beginStep(std::int64_t step) override { program.step = step; }
  Status run(int operation) override;
  Status synchronize() override { return Status::ok(); }
  double loss() override { return program.loss; }

  std::string layoutFingerprint() const override;
  std::int64_t extraBytes() const override { return program.scratch.bytes() + velocities.bytes(); }

private:
  /// Copies between dense memory and `data`, which holds the tensor in its layout.
  Status transfer(int tensor, std::byte *data, std::byte *dense, std::size_t bytes, bool toDense);
  /// As transfer(), of a parameter's velocity.
  Status transferVelocity(int parameter, std::byte *dense, std::size_t bytes, bool toDense);
  /// Velocity for all that this rank updates, as far as that is known.
  Status allocateVelocities();
  Status checkUpdates() const;
  /// The optimizer over bytes [begin, begin + bytes) of parameters and gradients.
  void update(std::int64_t begin, std::int64_t bytes);

  struct Shard {
    std::int64_t begin = 0, bytes = 0; ///< in Space::parameters
  };

  Program program;
  CpuBuilder steps;
  Velocities velocities;
  std::map<int, Shard> shards; ///< by bucket
  bool hasVelocities = false;  ///< of what is not sharded
  bool isFinished = false;
  SgdOptions optimizer;
};

Status CpuExecutable::allocate() {
  omp_set_num_threads(program.options.threads);
  for (Space space : allSpaces) {
    HostMemory &memory = program.spaces[static_cast<int>(space)];
    memory = HostMemory(program.options.sizes.of(space));
    if (!memory.isValid())
      return Status::badInput("not enough memory for " +
                              std::to_string(program.options.sizes.of(space)) + " bytes");
  }
  return Status::ok();
}

Status CpuExecutable::finish() {
  if (program.table.hasFailed())
    return program.table.status();
  if (Status status = checkUpdates(); !status)
    return status;
  for (int id = 0; id < static_cast<int>(program.placements.size()); ++id)
    if (!program.placements[id].isLaidOut)
      program.layOut({id}, program.placements[id].layout);
  if (!program.allocateScratch())
    return Status::badInput("not enough memory for scratch");
  isFinished = true;
  return allocateVelocities();
}

/// The optimizer's loop is for 32-bit floats.
Status CpuExecutable::checkUpdates() const {
  for (const OperationInfo &operation : program.table.operations) {
    if (operation.kind != OperationKind::update && operation.kind != OperationKind::issue)
      continue;
    const Bucket &bucket = *program.table.findBucket(operation.bucket);
    if (operation.kind == OperationKind::issue && bucket.scheme != shardedScheme)
      continue;
    for (const StepTensor &tensor : program.table.tensors)
      if (tensor.space == Space::parameters && tensor.type != ElementType::f32 &&
          holds(bucket, tensor))
        return Status::badInput("update: parameter '" + tensor.name +
                                "': expected element type f32, got " +
                                std::string(elementName(tensor.type)));
  }
  return Status::ok();
}

Status CpuExecutable::transfer(int tensor, std::byte *data, std::byte *dense, std::size_t bytes,
                               bool toDense) {
  if (tensor < 0 || tensor >= static_cast<int>(program.table.tensors.size()))
    return Status::error(ErrorKind::internal, "no such tensor");
  const StepTensor &info = program.table.tensors[tensor];
  const std::string what = "tensor '" + info.name + "'";
  if (bytes != static_cast<std::size_t>(denseBytes(info)))
    return Status::badInput(what + ": expected " + std::to_string(denseBytes(info)) +
                            " bytes, got " + std::to_string(bytes));
  const Layout &layout = program.placements[tensor].layout;
  if (isPlain(layout)) {
    std::memcpy(toDense ? dense : data, toDense ? data : dense, bytes);
    return Status::ok();
  }
  try {
    dnnl::memory inside(layout, program.engine, data);
    dnnl::memory outside(plainLike(layout), program.engine, dense);
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

Status CpuExecutable::transferVelocity(int parameter, std::byte *dense, std::size_t bytes,
                                       bool toDense) {
  const StepTable &table = program.table;
  if (!table.isDeclared({parameter}) || optimizer.momentum == 0 ||
      table.tensors[parameter].space != Space::parameters)
    return Status::badInput("expected a parameter and an optimizer with momentum");
  const StepTensor &info = table.tensors[parameter];
  for (const Bucket &bucket : table.buckets)
    if (bucket.scheme == shardedScheme && holds(bucket, info) && program.options.ranks > 1)
      return Status::badInput("parameter '" + info.name +
                              "': its velocity is spread over the ranks, for bucket " +
                              std::to_string(bucket.id) + " travels by '" + bucket.scheme + "'");
  std::byte *data = velocities.at(info.offset, denseBytes(info));
  return data ? transfer(parameter, data, dense, bytes, toDense)
              : Status::error(ErrorKind::internal, "parameter '" + info.name + "' has no velocity");
}

Status CpuExecutable::readVelocity(int parameter, std::span<std::byte> dense) {
  return transferVelocity(parameter, dense.data(), dense.size(), true);
}

Status CpuExecutable::writeVelocity(int parameter, std::span<const std::byte> dense) {
  return transferVelocity(parameter, const_cast<std::byte *>(dense.data()), dense.size(), false);
}

Status CpuExecutable::allocateVelocities() {
  if (optimizer.momentum == 0 || !isFinished)
    return Status::ok();
  std::map<std::int64_t, std::int64_t> sharded; // extents by offset
  for (const Bucket &bucket : program.table.buckets)
    if (bucket.scheme == shardedScheme)
      sharded.emplace(bucket.offset, bucket.extent);
  sharded.emplace(program.options.sizes.parameters, 0);
  bool fits = true;
  std::int64_t begin = 0;
  for (const auto &[offset, extent] : sharded) {
    fits = fits && (hasVelocities || velocities.add(begin, offset - begin));
    begin = offset + extent;
  }
  hasVelocities = true;
  for (const auto &[bucket, shard] : shards)
    if (!velocities.at(shard.begin, shard.bytes))
      fits = fits && velocities.add(shard.begin, shard.bytes);
  return fits ? Status::ok() : Status::badInput("not enough memory for the optimizer's velocity");
}

Status CpuExecutable::setOptimizer(const SgdOptions &options) {
  optimizer = options;
  return allocateVelocities();
}

Status CpuExecutable::takeShard(int bucket, std::int64_t begin, std::int64_t bytes) {
  const Bucket *whole = program.table.findBucket(bucket);
  if (!whole || whole->scheme != shardedScheme || begin < 0 || bytes < 0 ||
      begin + bytes > whole->extent || begin % 4 != 0 || bytes % 4 != 0)
    return Status::error(ErrorKind::internal, "bucket " + std::to_string(bucket) +
                                                  " has no part of " + std::to_string(bytes) +
                                                  " bytes at " + std::to_string(begin));
  shards[bucket] = {whole->offset + begin, bytes};
  return allocateVelocities();
}

Status CpuExecutable::updateShard(int bucket) {
  auto found = shards.find(bucket);
  if (found == shards.end())
    return Status::error(ErrorKind::internal,
                         "no part of bucket " + std::to_string(bucket) + " is this rank's");
  // A channel's thread leaves the processors to the computation: the network is slower anyway.
  omp_set_num_threads(program.options.ranks == 1 ? program.options.threads : 1);
  update(found->second.begin, found->second.bytes);
  return Status::ok();
}

void CpuExecutable::update(std::int64_t begin, std::int64_t bytes) {
  auto at = [&](std::byte *data) { return reinterpret_cast<float *>(data); };
  sgdUpdate(at(program.spaces[static_cast<int>(Space::parameters)].data() + begin),
            at(program.spaces[static_cast<int>(Space::gradients)].data() + begin),
            at(velocities.at(begin, bytes)), bytes / static_cast<std::int64_t>(sizeof(float)),
            optimizer, 1.0 / program.options.ranks);
}

Status CpuExecutable::run(int operation) {
  const OperationInfo &info = program.table.operations[operation];
  omp_set_num_threads(program.options.threads); // the calling thread's, and not another's
  if (info.kind == OperationKind::update) {
    const Bucket &bucket = *program.table.findBucket(info.bucket);
    update(bucket.offset, bucket.extent);
  }
  try {
    for (const Command &command : program.commands[operation]) {
      if (command.call)
        command.call();
      else
        command.primitive.execute(program.stream, command.arguments);
    }
  } catch (const dnnl::error &error) {
    return Status::error(ErrorKind::internal,
                         "layer '" + info.layer + "': " + info.name + " failed: " + error.what());
  }
  return Status::ok();
}

std::string CpuExecutable::layoutFingerprint() const {
  std::uint64_t hash = stableHash("cpu");
  for (std::size_t id = 0; id < program.table.tensors.size(); ++id) {
    const StepTensor &tensor = program.table.tensors[id];
    if (tensor.space == Space::parameters || tensor.space == Space::gradients)
      hash = stableHash(tensor.name + "@" + std::to_string(tensor.offset) + " " +
                            describe(program.placements[id].layout) + ";",
                        hash);
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

} // namespace

Result<std::unique_ptr<Executable>> createCpuExecutable(const ExecutableOptions &options) {
  try {
    auto executable = std::make_unique<CpuExecutable>(options);
    if (Status status = executable->allocate(); !status)
      return status;
    return std::unique_ptr<Executable>(std::move(executable));
  } catch (const dnnl::error &error) {
    return Status::error(ErrorKind::internal, std::string("oneDNN did not start: ") + error.what());
  }
}

} // namespace syncline::cpu
