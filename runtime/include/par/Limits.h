/// What a file may have, for every reader of both halves: far above whatever is real, and low enough that
/// neither a stack nor memory nor patience ends. docs/Security.md shows them.
#ifndef PAR_LIMITS_H
#define PAR_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace par::limits {

// Depth: parsers recurse.
constexpr unsigned jsonLevels = 64;     ///< of configs, clusters, plans, manifests, checkpoints, tokenizers
constexpr int conversationLevels = 200; ///< of a line of conversations, which may hold a tool's schema
constexpr unsigned graphLevels = 200;   ///< of brackets, regions and operators of a graph
constexpr int expressionLevels = 500;   ///< of an expression of a chat template
constexpr int templateLevels = 800;     ///< of macros of a chat template that call each other
constexpr size_t templateValueLevels = 500; ///< of lists in lists that a template makes
constexpr int tomlDots = 1000;              ///< of one line of a file of flags: each is a table in a table
constexpr unsigned patternLevels = 50;      ///< of parentheses of a regular expression

// Length.
constexpr size_t tomlBytes = size_t(1) << 20;     ///< of a file of flags
constexpr size_t textBytes = size_t(16) << 20;    ///< of a config, a plan, a cluster file
constexpr size_t manifestBytes = size_t(1) << 30; ///< of a manifest: a step of many stages has long lists
constexpr size_t graphBytes = size_t(1) << 32;    ///< of a graph
constexpr uint64_t headerBytes = 100'000'000;     ///< of a safetensors header: the format's own
constexpr size_t templateText = size_t(1) << 26;  ///< of a text that a template makes
constexpr size_t valueCharacters = 80;            ///< of a value that a message quotes
constexpr size_t pathCharacters = 400;            ///< of a path in a message
constexpr size_t messageCharacters = 2000;        ///< of a message

// Count.
constexpr size_t templateValues = 100000; ///< of a list that a template makes
constexpr int64_t templateSteps = 300000; ///< of a template's loops

// Seconds.
constexpr int writerSeconds = 5; ///< until somebody writes to a pipe that is read
constexpr int pipeSeconds = 60;  ///< between two pieces of what comes from it

} // namespace par::limits
#endif
