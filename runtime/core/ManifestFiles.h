/// A variable's place in files as the manifest has it (docs/Package.md, "Variables").
#ifndef PAR_CORE_MANIFESTFILES_H
#define PAR_CORE_MANIFESTFILES_H

#include "io/JsonNode.h"
#include "par/io/FilePlace.h"

namespace par::rt {

/// Of a variable of such a shape. What does not fit it is found later (io::problemsOf).
io::FilePlace parseFile(const io::JsonNode &node, const io::Shape &variable);

} // namespace par::rt
#endif
