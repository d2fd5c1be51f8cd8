// Copies this rank's factors to the place where the all-gather completes them. Samples are
// outermost in every layout of an activation, so the gathered tensor has its factors' layout and
// every rank's part is one stretch of it. Nothing is converted, neither here nor where gradients
// are reconstructed. Where channels are padded, the gathered tensor is plain, because padding would
// travel too. It is plain also where operations before the gather read what the step before has
// gathered: they are prepared first.
#include "runtime/cpu/CpuBuilder.h"

#include <cstring>

namespace syncline::cpu {

namespace {

/// The layout in which all ranks' parts lie one behind the other.
Layout gatheredLayout(const Layout &part, const Shape &dims) {
  const std::optional<Layout> alike = isPadded(part) ? std::nullopt : likeLayout(part, dims);
  return alike ? *alike : plainLayout(dims, part.data_type());
}

} // namespace

core::GatherPart CpuBuilder::gatherOne(Preparation &p, Tensor in, Tensor out) {
  const core::StepTensor &from = p.info(in), &to = p.info(out);
  const Layout stored = p.layout(in); // a factor travels in its declared type
  const Layout current = p.isRounded(in) ? withType(stored, DataType::f32) : stored;
  const bool isKnown = dataType(from.type) != DataType::undef; // eight-byte types stay plain
  const bool isFree = isKnown && !program.placement(out).isCarried;
  const Layout all = isFree ? gatheredLayout(current, to.shape) : p.plain(out);
  const dnnl::memory result = p.output(out, all);
  if (!(p.layout(out) == all))
    p.fail("'" + to.name + "': expected the layout of '" + from.name + "' or none");
  program.placement(out).isGathered = true;
  const std::int64_t bytes = core::elementCount(from.shape) * core::elementBytes(from.type);
  std::byte *part = pointer<std::byte>(result) + program.options.rank * bytes;
  if (isPlain(all) && !isPlain(current))
    p.reorder(p.input(in, current), dnnl::memory(plainLike(current), program.engine, part));
  else
    p.call("copy", [=, own = p.input(in, current)] {
      std::memcpy(part, pointer<std::byte>(own), static_cast<std::size_t>(bytes));
    });
  return {pointer<void>(result), bytes, from.type};
}

} // namespace syncline::cpu
