// Puts this rank's factors where the all-gather completes them: results are plain, whatever layout
// the factors have, so that every rank's part is one stretch of them and the factors' own memory is
// free again.
#include "runtime/cpu/CpuBuilder.h"

#include <cstring>

namespace syncline::cpu {

namespace {

/// Appends the copy of `in` into this rank's part of `out`; what the channel has to gather.
GatherPart gatherOne(Preparation &p, Tensor in, Tensor out) {
  const ExecutableOptions &options = p.program.options;
  const StepTensor &from = p.info(in), &to = p.info(out);
  Shape wanted = from.shape;
  if (wanted.empty())
    p.fail("'" + from.name + "': expected at least one dimension");
  wanted[0] *= options.ranks;
  if (to.shape != wanted || to.type != from.type)
    p.fail("'" + to.name + "': expected '" + from.name + "' of " + std::to_string(options.ranks) +
           " ranks along dimension 0");
  const Layout current = p.layout(in);
  const dnnl::memory result = p.plainOutput(out);
  if (!isPlain(p.layout(out)))
    p.fail("'" + to.name + "': expected a plain layout");
  const std::int64_t bytes = elementCount(from.shape) * elementBytes(from.type);
  std::byte *part = pointer<std::byte>(result) + options.rank * bytes;
  if (isPlain(current))
    p.call("copy", [=, own = p.plainInput(in)] {
      std::memcpy(part, pointer<std::byte>(own), static_cast<std::size_t>(bytes));
    });
  else
    p.reorder(p.input(in, current), dnnl::memory(plainLike(current), p.program.engine, part));
  return {pointer<void>(result), bytes};
}

} // namespace

void CpuBuilder::gather(int bucket, std::span<const Tensor> ins, std::span<const Tensor> outs) {
  if (!program.table.appendBucketOperation("gather", OperationKind::gather, bucket))
    return;
  prepareLast("bucket " + std::to_string(bucket) + ": gather", [&](Preparation &p) {
    if (ins.size() != outs.size() || ins.empty())
      p.fail("expected as many results as operands, at least one");
    std::vector<GatherPart> parts;
    for (std::size_t i = 0; i < ins.size(); ++i)
      parts.push_back(gatherOne(p, ins[i], outs[i]));
    program.table.operations.back().gathered = std::move(parts);
  });
}

} // namespace syncline::cpu
