// DeviceModel: the seconds of one kernel on a GPU, from the kernel's size and a few numbers of the
// device. It knows no IR. README.md has the formula.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace syncline::cost {

enum class Precision { fp32, tf32, bf16, fp16 };

/// Nothing for a name that is none of nn::precisions.
std::optional<Precision> parsePrecision(std::string_view name);

/// Classes of kernels that reach different shares of a device's rates.
enum class KernelClass {
  product,       ///< one matrix product
  batched,       ///< many products of one shape
  convolution,   ///< without groups
  grouped,       ///< a convolution whose groups have several channels
  depthwise,     ///< a convolution whose groups have one channel
  recurrent,     ///< products of one step of a sequence after the other
  pointwise,     ///< reads and writes elements in order
  normalization, ///< of a batch, or of rows
  softmax,
  pooling,
  move,      ///< changes the order of elements
  embedding, ///< gathers or adds up rows of a table
  optimizer,
};

/// Its name among the numbers of a device.
std::string_view className(KernelClass kind);

/// One kernel. A product, and a convolution as one, has m rows, n columns and k summands.
struct Kernel {
  KernelClass kind = KernelClass::pointwise;
  double flops = 0;           ///< a multiply and an add count as two
  double bytes = 0;           ///< that it reads and writes
  double m = 1, n = 1, k = 1; ///< of each product
  double batch = 1;           ///< products of this shape
  double steps = 1;           ///< parts that wait for each other
  double launches = 1;        ///< that the host issues; 0 where it is part of another kernel
  double layoutBytes = 0;     ///< of tensors with channels first, which matrix units cannot read
  bool hasWindow = false;     ///< a convolution that Winograd's algorithm or an FFT makes faster
  bool isUnaligned = false;   ///< rows of a product's matrices that are no whole 16 bytes
};

/// What a device's kernels are predicted by. Peaks are dense, in FLOP/s; 0: it has no such units.
/// Shares are parts of the peak, of the bandwidth for classes that move data.
struct DeviceNumbers {
  double fp32 = 0, tf32 = 0, bf16 = 0, fp16 = 0;
  double bandwidth = 0;       ///< bytes/s of the data sheet
  double multiprocessors = 1; ///< over which tiles are spread
  double launch = 0;          ///< seconds in which a kernel begins and ends
  double issue = 0;           ///< seconds in which the host issues a kernel
  double slowdown = 1;        ///< factor on all times
  double matrix = 1;          ///< factor on the shares of products by matrix units
  double memory = 1;          ///< factor on the shares of the bandwidth
  double vector = 1;          ///< share of the fp32 peak that products without matrix units reach
  double winograd = 1;        ///< factor on it for convolutions with a window
  double unaligned = 1;       ///< factor on the shares of products by matrix units, if unaligned
  double product = 1, batched = 1, convolution = 1, grouped = 1, depthwise = 1, recurrent = 1;
  double pointwise = 1, normalization = 1, softmax = 1, pooling = 1, move = 1, embedding = 1,
         optimizer = 1;
  double conversion = 0; ///< passes over `layoutBytes` to bring channels last, and back

  /// 0 where the device lacks it. bf16 and tf32 have no other units to fall back to.
  double peak(Precision precision) const;
};

/// Every number by its name in #cluster.kernels and in the table of devices.
using NamedNumber = std::pair<std::string_view, double DeviceNumbers::*>;
inline constexpr auto deviceNumbers = std::to_array<NamedNumber>({
    {"fp32", &DeviceNumbers::fp32},
    {"tf32", &DeviceNumbers::tf32},
    {"bf16", &DeviceNumbers::bf16},
    {"fp16", &DeviceNumbers::fp16},
    {"bandwidth", &DeviceNumbers::bandwidth},
    {"multiprocessors", &DeviceNumbers::multiprocessors},
    {"launch", &DeviceNumbers::launch},
    {"issue", &DeviceNumbers::issue},
    {"slowdown", &DeviceNumbers::slowdown},
    {"matrix", &DeviceNumbers::matrix},
    {"memory", &DeviceNumbers::memory},
    {"vector", &DeviceNumbers::vector},
    {"winograd", &DeviceNumbers::winograd},
    {"unaligned", &DeviceNumbers::unaligned},
    {"product", &DeviceNumbers::product},
    {"batched", &DeviceNumbers::batched},
    {"convolution", &DeviceNumbers::convolution},
    {"grouped", &DeviceNumbers::grouped},
    {"depthwise", &DeviceNumbers::depthwise},
    {"recurrent", &DeviceNumbers::recurrent},
    {"pointwise", &DeviceNumbers::pointwise},
    {"normalization", &DeviceNumbers::normalization},
    {"softmax", &DeviceNumbers::softmax},
    {"pooling", &DeviceNumbers::pooling},
    {"move", &DeviceNumbers::move},
    {"embedding", &DeviceNumbers::embedding},
    {"optimizer", &DeviceNumbers::optimizer},
    {"conversion", &DeviceNumbers::conversion},
});

/// The part of a product's work that a device's multiprocessors do at once: tiles of the best of a
/// few sizes go over them in waves, of which the last is not full, and tiles reach over the edges.
/// Above 0, at most 1.
double tileShare(const Kernel &kernel, double multiprocessors);

/// The seconds of `kernel` on the device. Precondition: the device has a peak of this precision
/// where the kernel computes products, and a bandwidth.
double kernelSeconds(const Kernel &kernel, Precision precision, const DeviceNumbers &device);

/// The factor on a step's kernels, of `seconds` in all: above 1 where the host takes longer to
/// issue its `launches` than they take.
double issueFactor(double seconds, double launches, const DeviceNumbers &device);

} // namespace syncline::cost
