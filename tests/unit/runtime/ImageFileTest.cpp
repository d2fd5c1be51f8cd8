// Images against Pillow: decoding to the pixel, scaling to within its rounding. Broken files, and
// folders of classes.
#include "tests/support/TemporaryFolder.h"

#include "runtime/data/Dataset.h"
#include "runtime/data/ImageFile.h"
#include "tests/support/WholeNpy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace syncline {
namespace {

using namespace data;
using test::TemporaryFolder;
namespace fs = std::filesystem;

/// Why images cannot be compared here, such as a build without a decoder; empty where they can.
std::string whyUntested() {
  if (std::system("/usr/bin/python3 -c 'import PIL, numpy' 2>/dev/null") != 0)
    return "no python3-pil";
  TemporaryFolder files;
  for (const std::string start : {"\xff\xd8\xff", "\x89PNG\r\n\x1a\n"}) {
    std::ofstream(files.file("start")) << start;
    Image image;
    const Status s = readImage(files.file("start"), 3, image);
    if (s.message().find("this build cannot decode it") != std::string::npos)
      return s.message();
  }
  return "";
}

/// Writes images of many kinds, and what Pillow makes of them: NAME-1.npy grey, NAME-3.npy colours,
/// NAME-part.npy a scaled part.
void writeImages(const std::string &folder) {
  const std::string script = folder + "/make.py";
  std::ofstream(script) << R"(
import sys
import numpy
from PIL import Image

folder = sys.argv[1]
rows, columns = numpy.mgrid[0:61, 0:83]
wave = [127 + 120 * numpy.sin(rows / a) * numpy.cos(columns / b) for a, b in ((9, 7), (5, 11), (3, 4))]
noise = numpy.random.RandomState(1).normal(0, 4, (61, 83, 3))
colours = Image.fromarray((numpy.stack(wave, 2) + noise).clip(0, 255).astype("u1"))
alpha = Image.fromarray((columns * 3 % 256).astype("u1"))
grey = colours.convert("L")
transparent = colours.copy()
transparent.putalpha(alpha)
both = grey.copy()
both.putalpha(alpha)
colours.save(f"{folder}/colours.png")
grey.save(f"{folder}/grey.png")
grey.convert("1").save(f"{folder}/bits.png")
colours.quantize(200).save(f"{folder}/palette.png")
transparent.save(f"{folder}/transparent.png")
both.save(f"{folder}/both.png")
colours.save(f"{folder}/colours.jpg", quality=90)
colours.save(f"{folder}/fine.jpeg", quality=95, subsampling=0)
colours.save(f"{folder}/progressive.JPG", format="JPEG", progressive=True, quality=60)
grey.save(f"{folder}/grey.jpg")
for name in sys.argv[2:]:
    image = Image.open(f"{folder}/{name}")
    numpy.save(f"{folder}/{name}-3.npy", numpy.asarray(image.convert("RGB")))
    numpy.save(f"{folder}/{name}-1.npy", numpy.asarray(image.convert("L")))
    part = image.convert("RGB").resize((20, 24), Image.BILINEAR, box=(7, 3, 75, 50))
    numpy.save(f"{folder}/{name}-part.npy", numpy.asarray(part))
)";
  std::string command = "/usr/bin/python3 '" + script + "' '" + folder + "'";
  for (const char *name : {"colours.png", "grey.png", "bits.png", "palette.png", "transparent.png",
                           "both.png", "colours.jpg", "fine.jpeg", "progressive.JPG", "grey.jpg"})
    command += std::string(" ") + name;
  ASSERT_EQ(std::system(command.c_str()), 0);
}

/// The largest distance of an image from Pillow's, in steps of 1/255.
double distance(const Image &image, const std::string &wanted) {
  const Result<Array> array = openNpy(wanted);
  EXPECT_TRUE(array.isOk()) << array.status().message();
  EXPECT_EQ(array->shape[0], image.height);
  EXPECT_EQ(array->shape[1], image.width);
  double largest = 0;
  for (std::int64_t c = 0; c < image.channels; ++c)
    for (std::int64_t i = 0; i < image.height * image.width; ++i)
      largest = std::max(
          largest,
          std::abs(255.0 *
                       image.values[static_cast<std::size_t>(c * image.height * image.width + i)] -
                   array->at(i * image.channels + c)));
  return largest;
}

// Grey, colours, palettes, bits, transparency; baseline, progressive and subsampled JPEG.
TEST(ImageFile, AgreesWithPillow) {
  if (const std::string why = whyUntested(); !why.empty())
    GTEST_SKIP() << why;
  TemporaryFolder files;
  writeImages(files.path);
  for (const char *name : {"colours.png", "grey.png", "bits.png", "palette.png", "transparent.png",
                           "both.png", "colours.jpg", "fine.jpeg", "progressive.JPG", "grey.jpg"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(isImageName(name));
    Image image;
    for (const int channels : {1, 3}) {
      const Status s = readImage(files.file(name), channels, image);
      ASSERT_TRUE(s.isOk()) << s.message();
      EXPECT_LT(distance(image, files.file(name) + "-" + std::to_string(channels) + ".npy"), 1e-3);
    }
    // Pillow rounds twice, after each direction.
    EXPECT_LT(distance(scaled(image, {7, 3, 75, 50}, 24, 20), files.file(name) + "-part.npy"),
              1.01);
  }
}

void expectBroken(const std::string &path, const std::string &why) {
  Image image;
  const Status s = readImage(path, 3, image);
  ASSERT_FALSE(s.isOk()) << why;
  EXPECT_EQ(s.kind(), ErrorKind::badInput);
  EXPECT_NE(s.message().find("'" + path + "': "), std::string::npos) << s.message();
  EXPECT_NE(s.message().find(why), std::string::npos) << s.message();
}

/// Writes one PNG file of each kind: number.png, and what is stored in it by Pillow's reading:
/// number.png-3.npy colours, number.png-1.npy grey. Returns how many.
int writeKinds(const std::string &folder) {
  const std::string script = folder + "/kinds.py";
  std::ofstream(script) << R"(
import itertools
import struct
import sys
import zlib
import numpy
from PIL import Image

WIDTH, HEIGHT = 21, 11
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
random = numpy.random.RandomState(1)

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def rows(values, bits):
    """Rows of values [height, width, channels], each after the number of its filter, none."""
    data = b""
    for row in values.reshape(len(values), -1):
        digits = "".join(f"{value:0{bits}b}" for value in row)
        digits += "0" * (-len(digits) % 8)
        data += b"\0" + int(digits, 2).to_bytes(len(digits) // 8, "big")
    return data

def write(path, kind, bits, interlaced, chunks):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    values = random.randint(0, 2**bits, (HEIGHT, WIDTH, channels))
    parts = [values[y::dy, x::dx] for x, y, dx, dy in ADAM7] if interlaced else [values]
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, bits, kind, 0, 0, interlaced)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunks)
        file.write(chunk(b"IDAT", zlib.compress(b"".join(rows(part, bits) for part in parts))))
        file.write(chunk(b"IEND", b""))

depths = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
gammas = (b"", chunk(b"gAMA", struct.pack(">I", 100000)), chunk(b"sRGB", b"\1"))
count = 0
for kind, interlaced in itertools.product(depths, (0, 1)):
    for bits, gamma in itertools.product(depths[kind], gammas):
        for transparent in (False, True) if kind in (0, 2, 3) and not gamma else (False,):
            chunks = gamma
            if kind == 3:
                palette = random.randint(0, 256, 3 * 2**bits).astype("u1").tobytes()
                chunks += chunk(b"PLTE", palette)
            if transparent:
                level = {0: b"\0\1", 2: b"\0\1\0\2\0\3", 3: b"\0\x80"}[kind]
                chunks += chunk(b"tRNS", level)
            path = f"{sys.argv[1]}/{count}.png"
            write(path, kind, bits, interlaced, chunks)
            image = Image.open(path)
            if image.mode == "I":  # grey of 16 bits
                image = Image.fromarray((numpy.asarray(image) >> 8).astype("u1"))
            numpy.save(path + "-3.npy", numpy.asarray(image.convert("RGB")))
            numpy.save(path + "-1.npy", numpy.asarray(image.convert("L")))
            count += 1
write(sys.argv[1] + "/outside.png", 3, 4, 0, chunk(b"PLTE", b"123"))
open(sys.argv[1] + "/count", "w").write(str(count))
)";
  const std::string command = "/usr/bin/python3 -W ignore '" + script + "' '" + folder + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  int count = 0;
  std::ifstream(folder + "/count") >> count;
  return count;
}

// Every colour type, depth and interlacing, with transparency by palette and by colour, and with
// chunks that state a gamma, which changes no pixel. A number beyond the palette has no colour.
TEST(ImageFile, EveryKindOfPngAgreesWithPillow) {
  if (const std::string why = whyUntested(); !why.empty())
    GTEST_SKIP() << why;
  TemporaryFolder files;
  const int count = writeKinds(files.path);
  EXPECT_GE(count, 90);
  for (int i = 0; i < count; ++i) {
    const std::string path = files.file(std::to_string(i) + ".png");
    SCOPED_TRACE(i);
    Image image;
    for (const int channels : {1, 3}) {
      const Status s = readImage(path, channels, image);
      ASSERT_TRUE(s.isOk()) << s.message();
      EXPECT_LT(distance(image, path + "-" + std::to_string(channels) + ".npy"), 1e-3);
    }
  }
  expectBroken(files.file("outside.png"), "a pixel's number is not in the palette");
}

// A file that is cut off at any place, or is no image, is refused by name.
TEST(ImageFile, BrokenFiles) {
  if (const std::string why = whyUntested(); !why.empty())
    GTEST_SKIP() << why;
  TemporaryFolder files;
  writeImages(files.path);
  for (const char *name : {"colours.png", "palette.png", "colours.jpg", "progressive.JPG"}) {
    const auto size = static_cast<std::int64_t>(fs::file_size(files.file(name)));
    for (const std::int64_t cut : {size - 20, size / 2, size / 5, std::int64_t{30}}) {
      fs::resize_file(files.file(name), static_cast<std::uintmax_t>(cut));
      expectBroken(files.file(name), std::string(name).ends_with("png") ? "PNG" : "JPEG");
    }
    fs::resize_file(files.file(name), 3);
    expectBroken(files.file(name), "");
  }
  std::ofstream(files.file("text.png")) << "no image";
  expectBroken(files.file("text.png"), "expected a JPEG or a PNG file");
  std::ofstream(files.file("empty.jpg")) << "";
  expectBroken(files.file("empty.jpg"), "expected a JPEG or a PNG file");
  fs::resize_file(files.file("empty.jpg"), mostBytes + 1);
  expectBroken(files.file("empty.jpg"), "expected at most " + std::to_string(mostBytes));
  expectBroken(files.file("absent.png"), "cannot open");
}

// A small file cannot take much memory or time: the sizes are known before anything is allocated,
// and each scan of a progressive JPEG takes the time of an image.
TEST(ImageFile, BoundsMemoryAndTime) {
  Pixels pixels;
  for (const std::int64_t width : {std::int64_t{5462}, std::int64_t{0xFFFFFFFF}}) {
    const Status s = setSize(pixels, width, 8192, 3);
    ASSERT_FALSE(s.isOk());
    EXPECT_EQ(s.message(), "the image has " + std::to_string(width) +
                               " x 8192 pixels of 3 bytes, expected at most 134217728 bytes in "
                               "total");
  }
  EXPECT_FALSE(setSize(pixels, 0xFFFFFFFF, 0xFFFFFFFF, 1));
  EXPECT_TRUE(setSize(pixels, 7, 5, 3));
  EXPECT_EQ(pixels.values.size(), 105u);
  if (const std::string why = whyUntested(); !why.empty())
    GTEST_SKIP() << why;
  TemporaryFolder files;
  writeImages(files.path);
  const std::string path = files.file("progressive.JPG");
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string all = text.str();
  const std::size_t scan = all.rfind("\xff\xda"), end = all.rfind("\xff\xd9");
  ASSERT_LT(scan, end);
  const auto write = [&](int scans) {
    std::ofstream out(path, std::ios::binary);
    out << all.substr(0, scan);
    for (int i = 0; i < scans; ++i)
      out << all.substr(scan, end - scan);
    out << all.substr(end);
  };
  write(200);
  expectBroken(path, "broken JPEG: it has more than 100 scans");
}

SampleFormat format(std::int64_t channels = 3) {
  return {{{"x", ElementType::f32, {2, channels, 24, 20}}}, ElementType::i64, {2}, true, 3};
}

// Folders are classes in the order of their names; files count through in the order of theirs.
TEST(ImageFolder, ClassesByName) {
  if (const std::string why = whyUntested(); !why.empty())
    GTEST_SKIP() << why;
  TemporaryFolder made, files;
  writeImages(made.path);
  for (const auto &[from, to] : {std::pair("grey.png", "b/2.png"),
                                 {"colours.png", "b/10.PNG"},
                                 {"colours.jpg", "a/x.jpg"}}) {
    fs::create_directories(fs::path(files.file(to)).parent_path());
    fs::copy_file(made.file(from), files.file(to));
  }
  std::ofstream(files.file("b/notes.txt")) << "ignored";
  fs::create_directory(files.file(".cache"));
  const Result<Dataset> set = Dataset::open(files.path, format());
  ASSERT_TRUE(set.isOk()) << set.status().message();
  EXPECT_EQ(set->size(), 3);
  EXPECT_EQ(set->classes(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(set->ignoredFiles(), 1);
  EXPECT_EQ(set->nameOf(1), "'" + files.file("b/10.PNG") + "'");
  HostBatch batch;
  ASSERT_TRUE(set->read({.indices = {2, 0}}, batch).isOk());
  const auto *labels = reinterpret_cast<const std::int64_t *>(batch.targets.data());
  EXPECT_EQ(labels[0], 1);
  EXPECT_EQ(labels[1], 0);
  EXPECT_EQ(batch.inputs.size(), 2u * 3 * 24 * 20 * sizeof(float));
  SampleFormat weighed = format();
  weighed.classWeights = {0.5, 2, 1};
  const Result<Dataset> other = Dataset::open(files.path, weighed);
  EXPECT_FALSE(set->weighsLabels());
  EXPECT_TRUE(other->weighsLabels());
  EXPECT_EQ(other->weightOfLabels(std::vector<std::int64_t>{0, 1, 2}), 4.5);
}

// A folder that does not fit the model, or has no images for a class, is named.
TEST(ImageFolder, Refusals) {
  TemporaryFolder files;
  const auto expectBad = [&](const SampleFormat &wanted, const std::string &why) {
    const Result<Dataset> set = Dataset::open(files.path, wanted);
    ASSERT_FALSE(set.isOk()) << why;
    EXPECT_EQ(set.status().kind(), ErrorKind::badInput);
    EXPECT_NE(set.status().message().find(why), std::string::npos) << set.status().message();
  };
  fs::create_directory(files.file("a"));
  expectBad(format(), "/a': expected .jpg or .png files, got none");
  expectBad(format(4), "images have 1 or 3 channels, the model's samples 4");
  fs::create_symlink("itself", files.file("itself"));
  expectBad(format(), "/itself': cannot read: ");
  fs::remove(files.file("itself"));
  for (const char *name : {"b", "c", "d"})
    fs::create_directory(files.file(name));
  expectBad(format(), "has 4 class folders, the model 3 classes");
  SampleFormat numbers = format();
  numbers.classes = false;
  expectBad(numbers, "one class each");
  SampleFormat vectors = format();
  vectors.inputs[0].shape = {2, 24};
  expectBad(vectors, "[channels, height, width], the model's samples [24]");
}

} // namespace
} // namespace syncline
