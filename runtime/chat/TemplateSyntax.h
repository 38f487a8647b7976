/// What a chat template says, as a tree.
#ifndef PAR_CHAT_TEMPLATESYNTAX_H
#define PAR_CHAT_TEMPLATESYNTAX_H

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace par::chat {

/// Keys in the order in which they were given, as Python's. A discarded value is an undefined one.
using Json = nlohmann::ordered_json;

struct Expression;
using ExpressionPointer = std::unique_ptr<Expression>;

struct Expression {
  /// `name` and `parts` of each kind:
  /// literal (value); variable (name); list; map (keys and values in turns); member (object; name); index
  /// (object, index); slice (object, begin, end, step, which may be null); call (arguments; function's name);
  /// method (object, arguments; name); filter (operand, arguments; name); test (operand; name); negate;
  /// minus; binary (both sides; the sign, `and`, `or`, `in`); choose (condition, then, else, which may be
  /// null)
  enum Kind {
    literal,
    variable,
    list,
    map,
    member,
    index,
    slice,
    call,
    method,
    filter,
    test,
    negate,
    minus,
    binary,
    choose
  } kind = literal;
  std::string name;
  Json value;
  std::vector<ExpressionPointer> parts;
  std::vector<std::pair<std::string, ExpressionPointer>> named; ///< arguments with names
  int line = 1, depth = 1;
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  /// plain (text); print (expression); choose (branches: the expression is null for else); loop (names,
  /// expression, condition or null, body, otherwise); set (names: a variable, or a namespace and its member;
  /// expression); capture (names as of set; body: what it writes becomes the value); define: a macro (its
  /// name and its parameters' in names, their defaults, which may be null, body); generation (body: what an
  /// answer is); stop and next: break and continue
  enum Kind { plain, print, choose, loop, set, capture, define, generation, stop, next } kind = plain;
  std::string text;
  std::vector<std::string> names;
  ExpressionPointer expression, condition;
  std::vector<std::pair<ExpressionPointer, Block>> branches;
  std::vector<ExpressionPointer> defaults; ///< of names behind the first
  Block body, otherwise;
  int line = 1;
};

/// Throws TemplateError where the source is no template, or has what par does not evaluate.
Block parseTemplate(const std::string &source);

} // namespace par::chat
#endif
