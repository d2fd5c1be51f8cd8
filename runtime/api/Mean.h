// Sums become means.
#pragma once

#include "syncline/Step.h"

#include <cstdint>

namespace syncline::api {

/// Whether sums of the type can be divided: whole numbers cannot.
bool hasMean(ElementType type);
/// Divides each of `count` values. Precondition: hasMean(type).
void divide(void *data, std::int64_t count, ElementType type, int by);

} // namespace syncline::api
