// Layouts by means of oneDNN's blocked descriptors.
#include "runtime/cpu/Layout.h"

#include "runtime/cpu/InstructionSets.h"

#include <dnnl_debug.h>

#include <algorithm>
#include <array>

namespace syncline::cpu {

using Tag = dnnl::memory::format_tag;

DataType dataType(ElementType type) {
  switch (type) {
  case ElementType::f32:
    return DataType::f32;
  case ElementType::f16:
    return DataType::f16;
  case ElementType::bf16:
    return DataType::bf16;
  case ElementType::i32:
    return DataType::s32;
  case ElementType::u8:
    return DataType::u8;
  case ElementType::f64:
  case ElementType::i64:
    return DataType::undef;
  }
  return DataType::undef;
}

Layout plainLayout(const Shape &dims, DataType type) {
  Shape extents = dims.empty() ? Shape{1} : dims;
  Shape strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= extents[i];
  }
  return Layout(extents, type, strides);
}

Layout plainLayout(const Shape &shape, ElementType type) {
  const DataType known = dataType(type);
  if (known != DataType::undef)
    return plainLayout(shape, known);
  Shape bytes = shape;
  bytes.push_back(8);
  return plainLayout(bytes, DataType::u8);
}

Layout plainLike(const Layout &layout) { return plainLayout(layout.dims(), layout.data_type()); }

bool isPlain(const Layout &layout) { return layout == plainLike(layout); }

std::int64_t elementOffset(const Layout &layout, std::span<const std::int64_t> of) {
  const auto &blocking = layout.data.format_desc.blocking;
  dnnl_dims_t index{};
  std::copy(of.begin(), of.end(), index);
  std::int64_t offset = layout.data.offset0, inside = 1;
  for (int block = blocking.inner_nblks; block-- > 0;) {
    const std::int64_t size = blocking.inner_blks[block];
    std::int64_t &at = index[blocking.inner_idxs[block]];
    offset += at % size * inside;
    at /= size;
    inside *= size;
  }
  for (std::size_t i = 0; i < of.size(); ++i)
    offset += index[i] * blocking.strides[i];
  return offset;
}

bool isPadded(const Layout &layout) {
  const auto &data = layout.data;
  return !std::equal(data.dims, data.dims + data.ndims, data.padded_dims);
}

Layout withType(const Layout &layout, DataType type) {
  Layout result = layout;
  result.data.data_type = dnnl::memory::convert_to_c(type);
  return result;
}

namespace {

/// Tags of activations by rank less three: plain, channels in blocks of 16 and 8, channels last.
constexpr std::array<std::array<Tag, 4>, 3> activationTags{{
    {Tag::abc, Tag::aBc16b, Tag::aBc8b, Tag::acb},
    {Tag::abcd, Tag::aBcd16b, Tag::aBcd8b, Tag::acdb},
    {Tag::abcde, Tag::aBcde16b, Tag::aBcde8b, Tag::acdeb},
}};

bool hasActivationTags(std::size_t rank) { return rank >= 3 && rank <= 5; }

} // namespace

std::optional<Layout> likeLayout(const Layout &model, const Shape &dims) {
  const Shape modelDims = model.dims();
  if (modelDims.size() != dims.size())
    return std::nullopt;
  if (isPlain(model))
    return plainLayout(dims, model.data_type());
  if (!hasActivationTags(dims.size()))
    return std::nullopt;
  for (Tag tag : activationTags[dims.size() - 3])
    if (Layout(modelDims, model.data_type(), tag) == model)
      return Layout(dims, model.data_type(), tag);
  return std::nullopt;
}

Layout channelsLastLayout(const Shape &dims, DataType type) {
  return Layout(dims, type, activationTags[dims.size() - 3].back());
}

bool hasTiles() { return oneDnnIsa() == dnnl::cpu_isa::avx512_core_amx; }

std::int64_t vectorLanes() {
  switch (oneDnnIsa()) {
  case dnnl::cpu_isa::sse41:
  case dnnl::cpu_isa::avx:
  case dnnl::cpu_isa::avx2:
  case dnnl::cpu_isa::avx2_vnni:
    return 8;
  default: // oneDNN's enumeration; all newer processors have 16-element vectors
    return 16;
  }
}

Layout activationLayout(const Shape &dims, DataType type) {
  if (!hasActivationTags(dims.size()))
    return plainLayout(dims, type);
  if (type == DataType::bf16 && hasTiles())
    return channelsLastLayout(dims, type);
  return Layout(dims, type, activationTags[dims.size() - 3][vectorLanes() == 16 ? 1 : 2]);
}

namespace {

void appendAll(std::string &text, const dnnl_dim_t *values, int count, char separator) {
  for (int i = 0; i < count; ++i) {
    if (i)
      text += separator;
    text += std::to_string(values[i]);
  }
}

} // namespace

std::string describe(const Layout &layout) {
  const auto &data = layout.data;
  const auto &blocking = data.format_desc.blocking;
  std::string text = std::string(dnnl_dt2str(data.data_type)) += ' ';
  appendAll(text, data.dims, data.ndims, 'x');
  text += " strides ";
  appendAll(text, blocking.strides, data.ndims, ',');
  text += " blocks ";
  appendAll(text, blocking.inner_blks, blocking.inner_nblks, ',');
  text += " of ";
  appendAll(text, blocking.inner_idxs, blocking.inner_nblks, ',');
  return text;
}

} // namespace syncline::cpu
