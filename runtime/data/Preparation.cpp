// Random crops, shifts and flips, and normalization.
#include "runtime/data/Preparation.h"

#include "runtime/data/Convert.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace syncline::data {
namespace {

/// Random numbers of one sample in an epoch, by position.
constexpr std::uint64_t numbersASample = 64, cropAttempts = 10, numbersAnAttempt = 4;
constexpr std::uint64_t atShift = cropAttempts * numbersAnAttempt, atFlip = atShift + 2;

/// A random part has this share of the image's area, and this ratio of width to height. The
/// numbers and the ten attempts are those of torchvision's RandomResizedCrop.
constexpr double smallestArea = 0.08, largestRatio = 4.0 / 3;

bool parseNumbers(const std::string &text, std::vector<double> &numbers) {
  std::stringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    double value = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (item.empty() || error != std::errc() || end != item.data() + item.size() ||
        !std::isfinite(value))
      return false;
    numbers.push_back(value);
  }
  return !numbers.empty() && !text.ends_with(',');
}

/// The largest part in the image's middle whose sides have the ratio of `width` to `height`.
Box middle(const Image &image, std::int64_t height, std::int64_t width) {
  const auto h = static_cast<double>(image.height), w = static_cast<double>(image.width);
  const double scale = std::min(h / static_cast<double>(height), w / static_cast<double>(width));
  const double boxHeight = scale * static_cast<double>(height);
  const double boxWidth = scale * static_cast<double>(width);
  const double top = (h - boxHeight) / 2, left = (w - boxWidth) / 2;
  return {left, top, left + boxWidth, top + boxHeight};
}

} // namespace

ImageOptions ImageOptions::forEvaluation() const {
  ImageOptions plain;
  plain.mean = mean;
  plain.deviation = deviation;
  return plain;
}

bool parseAugment(const std::string &text, ImageOptions &options) {
  std::stringstream list(text);
  const std::string shift = "shift:";
  for (std::string item; std::getline(list, item, ',');) {
    if (item == "crop") {
      options.crops = true;
    } else if (item == "flip") {
      options.flips = true;
    } else if (item.starts_with(shift)) {
      const char *last = item.data() + item.size();
      const auto [end, error] = std::from_chars(item.data() + shift.size(), last, options.shift);
      if (error != std::errc() || end != last || options.shift < 1)
        return false;
    } else {
      return false;
    }
  }
  return options.changesAtRandom() && !text.ends_with(',');
}

bool parseNormalize(const std::string &text, ImageOptions &options) {
  const std::size_t colon = text.find(':');
  return colon != std::string::npos && parseNumbers(text.substr(0, colon), options.mean) &&
         parseNumbers(text.substr(colon + 1), options.deviation) &&
         options.mean.size() == options.deviation.size() &&
         std::ranges::all_of(options.deviation, [](double d) { return d > 0; });
}

Result<std::shared_ptr<const Preparation>> Preparation::create(const ImageOptions &options,
                                                               const SampleFormat &format) {
  if (format.inputs.size() > 1)
    return Status::badInput("images are for models of one input, the model has " +
                            std::to_string(format.inputs.size()));
  const InputFormat &input = format.inputs.front();
  Shape shape{input.shape.begin() + 1, input.shape.end()};
  if (shape.size() != 3)
    return Status::badInput(
        "images have the shape [channels, height, width], the model's samples " + describe(shape));
  if (options.changesAtRandom() && format.targetShape.size() > 2)
    return Status::badInput("'--augment' changes images only, but the model's targets have the "
                            "shape " +
                            describe({format.targetShape.begin() + 1, format.targetShape.end()}));
  if (options.mean.size() > 1 && static_cast<std::int64_t>(options.mean.size()) != shape[0])
    return Status::badInput("'--normalize' has " + std::to_string(options.mean.size()) +
                            " means, the model's images have " + std::to_string(shape[0]) +
                            " channels");
  if (options.shift >= std::min(shape[1], shape[2]))
    return Status::badInput("'--augment shift:" + std::to_string(options.shift) +
                            "' moves images out of the model's " + std::to_string(shape[1]) +
                            " x " + std::to_string(shape[2]) + " pixels");
  auto made = std::make_shared<Preparation>();
  made->options = options;
  made->shape = std::move(shape);
  made->type = input.type;
  return std::shared_ptr<const Preparation>(std::move(made));
}

Box Preparation::chooseBox(const Image &image, const RandomStream &random,
                           std::uint64_t first) const {
  const double area = static_cast<double>(image.height) * static_cast<double>(image.width);
  for (std::uint64_t i = 0; options.crops && i < cropAttempts; ++i, first += numbersAnAttempt) {
    const double part = area * (smallestArea + (1 - smallestArea) * random.uniform(first));
    const double ratio = std::pow(largestRatio, 2 * random.uniform(first + 1) - 1);
    const auto width = std::llround(std::sqrt(part * ratio));
    const auto height = std::llround(std::sqrt(part / ratio));
    if (width < 1 || height < 1 || width > image.width || height > image.height)
      continue;
    const auto left = random.below(first + 2, static_cast<std::uint64_t>(image.width - width + 1));
    const auto top = random.below(first + 3, static_cast<std::uint64_t>(image.height - height + 1));
    return {static_cast<double>(left), static_cast<double>(top),
            static_cast<double>(left) + static_cast<double>(width),
            static_cast<double>(top) + static_cast<double>(height)};
  }
  return middle(image, this->height(), this->width());
}

void Preparation::write(const Image &image, std::int64_t epoch, std::int64_t sample,
                        std::byte *to) const {
  const RandomStream random(options.seed, "augment " + std::to_string(epoch));
  const std::uint64_t first = static_cast<std::uint64_t>(sample) * numbersASample;
  const std::int64_t h = height(), w = width(), shift = options.shift;
  Image sized;
  const bool isSized = image.height == h && image.width == w && !options.crops;
  if (!isSized)
    sized = scaled(image, chooseBox(image, random, first), h, w);
  const Image &from = isSized ? image : sized;
  const auto offset = [&](std::uint64_t i) {
    return static_cast<std::int64_t>(random.below(first + atShift + i, 2 * shift + 1)) - shift;
  };
  const std::int64_t down = shift ? offset(0) : 0, right = shift ? offset(1) : 0;
  const bool isFlipped = options.flips && random.below(first + atFlip, 2) == 1;

  std::vector<float> values(from.values.size());
  float *value = values.data();
  for (std::int64_t c = 0; c < channels(); ++c) {
    const auto entry = static_cast<std::size_t>(options.mean.size() > 1 ? c : 0);
    const double mean = options.mean.empty() ? 0 : options.mean[entry];
    const double deviation = options.mean.empty() ? 1 : options.deviation[entry];
    for (std::int64_t row = 0; row < h; ++row)
      for (std::int64_t column = 0; column < w; ++column) {
        const std::int64_t y = row - down, x = (isFlipped ? w - 1 - column : column) - right;
        const bool isInside = y >= 0 && y < h && x >= 0 && x < w;
        const float pixel =
            isInside ? from.values[static_cast<std::size_t>((c * h + y) * w + x)] : 0;
        *value++ = static_cast<float>((pixel - mean) / deviation);
      }
  }
  convert(reinterpret_cast<const std::byte *>(values.data()), ElementType::f32,
          static_cast<std::int64_t>(values.size()), to, type);
}

} // namespace syncline::data
