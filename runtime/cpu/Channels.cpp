// Reading a layout as rows of channels.
#include "runtime/cpu/Channels.h"

namespace syncline::cpu {

std::optional<Channels> Channels::of(const Layout &layout) {
  const auto &data = layout.data;
  const auto &blocking = data.format_desc.blocking;
  const int rank = data.ndims;
  const std::int64_t channels = data.dims[1];
  const bool isBlocked = blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1 &&
                         (blocking.inner_blks[0] == 16 || blocking.inner_blks[0] == 8);
  if (rank < 2 || data.offset0 != 0 || (blocking.inner_nblks != 0 && !isBlocked))
    return std::nullopt;
  const std::int64_t block = isBlocked ? blocking.inner_blks[0] : 1;
  Channels view{data.dims[0], blocking.strides[0], 1, 1, {}};
  if (rank > 2)
    view.rowStride = blocking.strides[rank - 1];
  for (int i = rank; i-- > 2;) { // positions of a sample are evenly spaced
    if (blocking.strides[i] != view.rowStride * view.rows)
      return std::nullopt;
    view.rows *= data.dims[i];
  }
  const std::int64_t stride = blocking.strides[1];
  const std::int64_t lanes = isBlocked ? block : stride == 1 ? channels : 1;
  for (std::int64_t c = 0; c < channels; c += lanes)
    view.blocks.push_back({c, c / block * stride, lanes});
  return view;
}

} // namespace syncline::cpu
