// Checking the shapes and labels of .npy and CSV files, and reading their samples.
#include "runtime/data/SampleFile.h"

#include "runtime/core/Labels.h"
#include "runtime/core/StepTypes.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Csv.h"

#include <algorithm>
#include <cmath>

namespace syncline::data {
namespace {

Shape withoutFirst(const Shape &shape) { return {shape.begin() + 1, shape.end()}; }

/// `wanted` with the varied dimensions that the file has, where these are all alike and not larger.
Shape asVaried(const Shape &found, Shape wanted, const std::vector<std::size_t> &varied) {
  if (varied.empty() || found.size() != wanted.size())
    return wanted;
  const std::int64_t places = found[varied.front()];
  for (const std::size_t d : varied)
    if (found[d] != places || places < 1 || places > wanted[d])
      return wanted;
  for (const std::size_t d : varied)
    wanted[d] = places;
  return wanted;
}

Status checkShape(const std::string &path, const Shape &found, const Shape &wanted,
                  const std::string &what, const std::string &hint, bool isVaried) {
  if (found.empty())
    return Status::badInput("'" + path + "': expected samples of " + what +
                            " along a first dimension");
  Shape have = withoutFirst(found), want = withoutFirst(wanted);
  bool flat = path.ends_with(".csv") || (want.empty() && have.size() == 1);
  if (flat ? core::elementCount(have) == core::elementCount(want) : have == want)
    return Status::ok();
  return Status::badInput("'" + path + "': expected samples of shape " + describe(want) +
                          (isVaried ? " or of fewer places" : "") + ", got " + describe(have) +
                          " for " + what + hint);
}

std::string shortText(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.'))
    text.pop_back();
  return text;
}

} // namespace

Result<SampleFile> SampleFile::open(const std::string &path, const Shape &wanted,
                                    const std::string &what, const std::string &hint,
                                    const std::vector<std::size_t> &varied) {
  SampleFile file;
  if (path.ends_with(".npy")) {
    SYNCLINE_TRY_GET(opened, NpyFile::open(path));
    file.npy = std::move(*opened);
  } else if (path.ends_with(".csv") && !varied.empty()) {
    return Status::badInput("'" + path + "': expected a .npy file, as wide as its longest sample");
  } else if (path.ends_with(".csv")) {
    if (Result<InputFile> opened = InputFile::open(path); !opened) // no pipe, no device
      return opened.status();
    SYNCLINE_TRY_GET(read, readCsv(path));
    file.table = std::move(*read);
  } else {
    return Status::badInput("'" + path + "': expected a .npy or a .csv file");
  }
  const Shape &found = file.npy ? file.npy->shape() : file.table.shape;
  file.ofSample = asVaried(found, wanted, varied);
  SYNCLINE_TRY(checkShape(path, found, file.ofSample, what, hint, !varied.empty()));
  file.ofSample.front() = 1;
  file.perSample = core::elementCount(withoutFirst(file.ofSample));
  return file;
}

Status SampleFile::readElements(std::int64_t first, std::int64_t count, ElementType type,
                                std::byte *to) const {
  if (!npy) {
    const std::int64_t element = core::elementBytes(table.type);
    convert(table.data + first * element, table.type, count, to, type);
    return Status::ok();
  }
  if (npy->type() == type)
    return npy->read(first, count, to);
  // Kept from call to call: allocating large blocks anew costs more than reading them.
  static thread_local std::vector<std::byte> raw;
  raw.resize(static_cast<std::size_t>(count * core::elementBytes(npy->type())));
  Status s = npy->read(first, count, raw.data());
  if (s)
    convert(raw.data(), npy->type(), count, to, type);
  return s;
}

Status SampleFile::read(std::int64_t sample, ElementType type, std::byte *to) const {
  return readElements(sample * perSample, perSample, type, to);
}

template <typename Accepts, typename Expected>
Status SampleFile::checkNumbers(const Accepts &accepts, const Expected &expected) const {
  constexpr std::int64_t block = 4096; ///< elements that are read together
  const std::int64_t all = size() * perSample;
  std::vector<double> values(static_cast<std::size_t>(std::min(all, block)));
  for (std::int64_t first = 0; first < all; first += block) {
    const std::int64_t count = std::min(block, all - first);
    SYNCLINE_TRY(
        readElements(first, count, ElementType::f64, reinterpret_cast<std::byte *>(values.data())));
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = values[static_cast<std::size_t>(i)];
      if (value != std::floor(value) || !accepts(value, first + i))
        return Status::badInput("'" + path() + "': element " + std::to_string(first + i) +
                                ": expected " + expected(first + i) + ", got " + shortText(value));
    }
  }
  return Status::ok();
}

Status SampleFile::checkClasses(std::int64_t classes, const std::vector<double> &weights) {
  const auto samples = static_cast<std::size_t>(size());
  if (!weights.empty())
    ofLabels.assign(samples, 0);
  return checkNumbers(
      [&](double label, std::int64_t element) {
        const auto sample = static_cast<std::size_t>(element / perSample);
        if (label == static_cast<double>(core::ignoredLabel)) {
          if (ofLabels.empty())
            ofLabels.assign(samples, static_cast<double>(perSample));
          if (weights.empty())
            --ofLabels[sample];
          return true;
        }
        if (label < 0 || (classes > 0 && label >= static_cast<double>(classes)))
          return false;
        if (!weights.empty())
          ofLabels[sample] += weights.at(static_cast<std::size_t>(label));
        return true;
      },
      [&](std::int64_t) {
        return "a class from 0 to " + (classes > 0 ? std::to_string(classes - 1) : "n");
      });
}

Status SampleFile::checkRows(const std::vector<std::int64_t> &rows,
                             const std::string &input) const {
  const auto rowsAt = [&](std::int64_t element) {
    return rows[static_cast<std::size_t>(element) % rows.size()];
  };
  return checkNumbers(
      [&](double id, std::int64_t element) {
        const auto end = static_cast<double>(rowsAt(element));
        return end == 0 || (id >= -end && id < end);
      },
      [&](std::int64_t element) {
        const std::int64_t count = rowsAt(element);
        return count == 0 ? "a whole number for input '" + input + "'"
                          : "a row of the embedding of input '" + input + "', from 0 to " +
                                std::to_string(count - 1) + " or from " + std::to_string(-count) +
                                " to -1";
      });
}

Status SampleFile::checkWhole(const std::string &input) const {
  constexpr double most = 1 << 24;
  return checkNumbers(
      [](double value, std::int64_t) { return value >= -most && value <= most; },
      [&](std::int64_t) { return "a whole number from -2^24 to 2^24 for input '" + input + "'"; });
}

void SampleFile::letGo() {
  if (npy)
    npy->letGo();
}

} // namespace syncline::data
