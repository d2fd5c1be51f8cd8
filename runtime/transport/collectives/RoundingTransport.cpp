// Links that round.
#include "runtime/transport/collectives/RoundingTransport.h"

#include "runtime/core/Rounding.h"

namespace syncline::transport {
namespace {

class RoundingLink : public Link {
public:
  RoundingLink(std::unique_ptr<Link> whole, ElementType type,
               std::shared_ptr<const std::atomic<bool>> rounds)
      : whole(std::move(whole)), type(type), rounds(std::move(rounds)) {}

  Status send(const void *data, std::size_t bytes) override {
    if (!*rounds)
      return whole->send(data, bytes);
    halves.resize(bytes / sizeof(float));
    core::narrow(type, static_cast<const float *>(data), halves.data(), count());
    return whole->send(halves.data(), bytes / 2);
  }

  Status receive(void *data, std::size_t bytes) override {
    if (!*rounds)
      return whole->receive(data, bytes);
    halves.resize(bytes / sizeof(float));
    const Status s = whole->receive(halves.data(), bytes / 2);
    if (s)
      core::widen(type, halves.data(), static_cast<float *>(data), count());
    return s;
  }

  void roundAsSent(void *data, std::size_t bytes) const override {
    if (*rounds)
      core::roundOff(type, static_cast<float *>(data),
                     static_cast<std::int64_t>(bytes / sizeof(float)));
  }

private:
  std::int64_t count() const { return static_cast<std::int64_t>(halves.size()); }

  std::unique_ptr<Link> whole;
  const ElementType type;
  const std::shared_ptr<const std::atomic<bool>> rounds;
  std::vector<std::uint16_t> halves;
};

} // namespace

RoundingTransport::RoundingTransport(Transport &whole, core::WirePrecision wire)
    : whole(whole), type(wire == core::WirePrecision::bf16 ? ElementType::bf16 : ElementType::f16) {
}

Result<std::vector<std::unique_ptr<Link>>> RoundingTransport::open(std::span<const LinkEnd> ends) {
  auto links = whole.open(ends);
  if (links)
    for (std::unique_ptr<Link> &link : *links)
      link = std::make_unique<RoundingLink>(std::move(link), type, rounds);
  return links;
}

void RoundingTransport::round(void *data, std::size_t bytes) const {
  core::roundOff(type, static_cast<float *>(data),
                 static_cast<std::int64_t>(bytes / sizeof(float)));
}

} // namespace syncline::transport
