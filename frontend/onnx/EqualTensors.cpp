// Compares corners first, which transposing leaves in place, and all elements, each with its place,
// where these agree.
#include "frontend/onnx/EqualTensors.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/TensorData.h"
#include "frontend/onnx/TorchMarks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace syncline;
using namespace syncline::frontend;

namespace {

constexpr std::int64_t least = 1024;      ///< bytes
constexpr std::size_t mostTransposed = 4; ///< dimensions; more are compared in one order alone

struct Candidate {
  std::string name;
  TensorData data;
};

/// Equal for equal tensors, also where one is transposed.
struct Look {
  int type;
  std::vector<std::int64_t> dims; ///< sorted
  std::string first, last;        ///< elements

  auto operator<=>(const Look &) const = default;
};

/// Hands on elements, whatever the chunks.
Status forElements(const TensorData &data, llvm::function_ref<void(llvm::StringRef)> use) {
  const auto width = static_cast<std::size_t>(data.bytes / nn::elementCount(data.dims));
  std::string rest;
  return streamTensor(data, [&](llvm::StringRef chunk) {
    if (!rest.empty()) {
      const std::size_t missing = std::min(width - rest.size(), chunk.size());
      rest += chunk.take_front(missing);
      chunk = chunk.drop_front(missing);
      if (rest.size() < width)
        return;
      use(rest);
      rest.clear();
    }
    for (; chunk.size() >= width; chunk = chunk.drop_front(width))
      use(chunk.take_front(width));
    rest = chunk.str();
  });
}

/// Where each element stands in a tensor once its axes are reordered, as elements are counted up.
class Place {
public:
  /// `order` has the axes in their new order.
  Place(const nn::Dims &dims, const std::vector<int> &order)
      : dims(dims), index(dims.size()), strides(dims.size()) {
    std::uint64_t stride = 1;
    for (const int axis : llvm::reverse(order)) {
      strides[axis] = stride;
      stride *= static_cast<std::uint64_t>(dims[axis]);
    }
  }

  std::uint64_t operator*() const { return place; }

  Place &operator++() {
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      place += strides[axis];
      if (++index[axis] < dims[axis])
        return *this;
      place -= strides[axis] * static_cast<std::uint64_t>(dims[axis]);
      index[axis] = 0;
    }
    return *this;
  }

private:
  nn::Dims dims, index;
  std::vector<std::uint64_t> strides;
  std::uint64_t place = 0;
};

/// All ways to transpose a tensor so that its dimensions grow. Two tensors are transposed of each
/// other where one way of each gives the same elements, and then all ways give the same sets.
std::vector<Place> sortedWays(nn::DimsRef all) {
  nn::Dims dims;
  llvm::copy_if(all, std::back_inserter(dims), [](std::int64_t size) { return size != 1; });
  std::vector<int> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<Place> ways;
  if (dims.size() > mostTransposed)
    return {Place(dims, order)};
  do
    if (std::ranges::is_sorted(order, {}, [&](int axis) { return dims[axis]; }))
      ways.emplace_back(dims, order);
  while (std::ranges::next_permutation(order).found);
  return ways;
}

/// Mixes a sum of two numbers well (splitmix64).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// A hash of the elements and their places, which transposing does not change; nothing where all
/// elements are equal.
std::optional<std::uint64_t> fingerprint(const TensorData &data) {
  std::vector<Place> ways = sortedWays(data.dims);
  std::vector<std::uint64_t> sums(ways.size());
  std::string first;
  bool differs = false;
  const Status read = forElements(data, [&](llvm::StringRef element) {
    if (first.empty())
      first = element.str();
    differs |= element != first;
    const std::uint64_t hash = llvm::xxh3_64bits(element);
    for (std::size_t i = 0; i < ways.size(); ++i, ++ways[i - 1])
      sums[i] += mix(hash + *ways[i] * 0x9e3779b97f4a7c15U);
  });
  return read && differs ? std::optional(*std::ranges::min_element(sums)) : std::nullopt;
}

std::optional<Look> lookOf(const TensorData &data) {
  Look look{data.type, {data.dims.begin(), data.dims.end()}, "", ""};
  std::ranges::sort(look.dims);
  const std::int64_t width = data.bytes / nn::elementCount(data.dims);
  if (!data.file.empty()) { // two elements of what may be much
    TensorData part = data;
    part.bytes = width;
    const auto read = [&](std::string &element) {
      return streamTensor(part, [&](llvm::StringRef chunk) { element += chunk; });
    };
    const Status first = read(look.first);
    part.position = data.position + data.bytes - width;
    return first && read(look.last) ? std::optional(look) : std::nullopt;
  }
  const Status read = streamTensor(data, [&](llvm::StringRef chunk) {
    const auto size = static_cast<std::size_t>(width);
    if (look.first.empty())
      look.first = chunk.take_front(size).str();
    look.last = chunk.take_back(size).str();
  });
  return read ? std::optional(look) : std::nullopt;
}

/// The tensors, in groups of two or more that are equal, in the file's order.
std::vector<std::vector<Candidate>> groupsOf(std::vector<Candidate> candidates) {
  std::map<Look, std::vector<Candidate>> alike;
  for (Candidate &candidate : candidates)
    if (std::optional<Look> look = lookOf(candidate.data))
      alike[*look].push_back(std::move(candidate));
  std::vector<std::vector<Candidate>> groups;
  for (auto &[look, tensors] : alike) {
    std::map<std::uint64_t, std::vector<Candidate>> equal;
    if (tensors.size() > 1)
      for (Candidate &tensor : tensors)
        if (std::optional<std::uint64_t> sum = fingerprint(tensor.data))
          equal[*sum].push_back(std::move(tensor));
    for (auto &[sum, group] : equal)
      if (group.size() > 1)
        groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<std::string> namesOf(const std::vector<Candidate> &group) {
  std::vector<std::string> names;
  for (const Candidate &tensor : group)
    names.push_back(tensor.name);
  return names;
}

} // namespace

std::vector<std::string> frontend::distinct(const ModelFile &file, const GraphIndex &index,
                                            const std::vector<std::string> &names) {
  std::vector<Candidate> candidates;
  for (const std::string &name : names)
    if (const onnx::TensorProto *tensor = index.initializers.lookup(name))
      if (Result<TensorData> data = checkTensor(*tensor, file.folders);
          data && data->bytes >= least)
        candidates.push_back({name, std::move(*data)});
  std::vector<std::string> left = names;
  for (const std::vector<Candidate> &group : groupsOf(std::move(candidates)))
    for (const Candidate &again : llvm::drop_begin(group))
      std::erase(left, again.name);
  return left;
}

Status frontend::findEqual(const ModelFile &file, bool plansLayers, GraphIndex &index,
                           StoredTensors &stored, Notes &notes) {
  if (!index.listed && !readMarks(file).kinds.empty())
    return Status::ok(); // the file says of which parameters its nodes are made
  std::vector<Candidate> candidates;
  for (const auto &tensor : file.initializers) {
    const std::string &name = tensor->name();
    if (!isFloatElement(tensor->data_type()) || !index.uses.count(name) || stored.isFrozen(name) ||
        (!index.listed && index.buffers.count(name)))
      continue;
    Result<TensorData> data = checkTensor(*tensor, file.folders);
    if (data && data->bytes >= least) // who reads the tensor refuses a faulty one
      candidates.push_back({name, std::move(*data)});
  }
  std::vector<std::vector<Candidate>> groups = groupsOf(std::move(candidates));
  std::map<std::string, std::size_t> order;
  for (std::size_t i = 0; i < file.initializers.size(); ++i)
    order[file.initializers[i]->name()] = i;
  std::ranges::sort(groups, {}, [&](const auto &group) { return order[group.front().name]; });
  std::string pairs;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::vector<Candidate> &group = groups[i];
    if (!index.listed) {
      constexpr std::size_t shown = 3;
      if (i < shown)
        pairs += (i ? "; " : "") + listNames(namesOf(group)) + " (" +
                 std::to_string(group.front().data.bytes) + " B each)";
      else if (i == shown)
        pairs += "; and " + std::to_string(groups.size() - shown) + " more such groups";
      continue;
    }
    const auto isListed = [&](const Candidate &x) { return index.listed->contains(x.name); };
    const auto listed = llvm::find_if(group, isListed);
    if (listed == group.end() || llvm::all_of(group, isListed))
      continue;
    for (const Candidate &tensor : group)
      if (plansLayers && !isListed(tensor))
        index.copies[tensor.name] = listed->name;
    if (!plansLayers)
      return Status::badInput("--parameters lists some of " + listNames(namesOf(group)) +
                              ", which hold the same numbers: where they are one parameter that "
                              "the exporter wrote twice, the others would not be trained with "
                              "it; '--freeze NAME' says that one is a constant; " +
                              howToExport);
  }
  if (!pairs.empty())
    notes.add(pairs +
              ": these hold the same numbers, and each is trained apart, though the model may "
              "tie them; " +
              howToExport);
  return Status::ok();
}
