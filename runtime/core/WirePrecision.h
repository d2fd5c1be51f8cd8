// The type in which gradients travel.
#pragma once

namespace syncline::core {

/// Gradients of f32 are rounded before a message and widened after it.
enum class WirePrecision { fp32, bf16, fp16 };

} // namespace syncline::core
