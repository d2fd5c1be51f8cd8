// How an image becomes a sample: its size, random changes, normalization.
#pragma once

#include "runtime/data/Image.h"
#include "runtime/data/RandomStream.h"
#include "runtime/data/SampleStore.h"

#include <memory>

namespace syncline::data {

/// What the command line says of images.
struct ImageOptions {
  bool crops = false;                  ///< take a random part of each image
  bool flips = false;                  ///< mirror half of the images, left to right
  std::int64_t shift = 0;              ///< move each image by up to so many pixels
  std::vector<double> mean, deviation; ///< one for each channel or for all; empty for none
  std::uint64_t seed = 0;

  bool changesAtRandom() const { return crops || flips || shift > 0; }
  bool isAny() const { return changesAtRandom() || !mean.empty(); }
  /// The options without random changes, for evaluation.
  ImageOptions forEvaluation() const;
};

/// Reads "crop,shift:4,flip" into the options. Returns false for anything else.
bool parseAugment(const std::string &text, ImageOptions &options);
/// Reads "MEAN,..:DEVIATION,..", with equally many numbers on both sides.
bool parseNormalize(const std::string &text, ImageOptions &options);

/// Makes samples of images. Random numbers come from seed, epoch and sample alone, so that neither
/// ranks nor threads nor the step at which a run begins change them. Thread-safe.
class Preparation {
public:
  /// Errors: badInput where samples are no images [channels, height, width], where random changes
  /// would not fit targets that are images too, and for another number of means than channels.
  static Result<std::shared_ptr<const Preparation>> create(const ImageOptions &options,
                                                           const SampleFormat &format);

  std::int64_t channels() const { return shape[0]; }
  std::int64_t height() const { return shape[1]; }
  std::int64_t width() const { return shape[2]; }
  /// Writes `image` as sample `sample` of `epoch`: a part of it, scaled to the format's height and
  /// width (the whole image, or its middle where the ratio of the sides differs, unless the options
  /// take a random part), then shifted with zeros from outside, mirrored, and normalized.
  /// Precondition: it has the format's number of channels.
  void write(const Image &image, std::int64_t epoch, std::int64_t sample, std::byte *to) const;

private:
  Box chooseBox(const Image &image, const RandomStream &random, std::uint64_t first) const;
  ImageOptions options;
  Shape shape; ///< of one sample
  ElementType type = ElementType::f32;
};

} // namespace syncline::data
