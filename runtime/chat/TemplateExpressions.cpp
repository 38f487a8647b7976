#include "chat/TemplateExpressions.h"

#include "par/Limits.h"

namespace par::chat {

/// Chains as a + b + c are trees as deep as they are long, and evaluated by recursion.
constexpr int deepest = limits::expressionLevels;

void TemplateExpressions::deepen(Expression &made, const ExpressionPointer &part) {
  made.depth = std::max(made.depth, part ? part->depth + 1 : 1);
  if (made.depth > deepest)
    refuse("an expression of more than " + std::to_string(deepest) + " levels");
}

ExpressionPointer TemplateExpressions::make(Expression::Kind kind, int line, std::string name,
                                            std::vector<ExpressionPointer> parts) {
  auto made = std::make_unique<Expression>();
  made->kind = kind, made->line = line, made->name = std::move(name), made->parts = std::move(parts);
  for (const ExpressionPointer &part : made->parts)
    deepen(*made, part);
  return made;
}

/// Commas outside of brackets make a list of Python's kind, which nothing here needs.
ExpressionPointer TemplateExpressions::whole() {
  ExpressionPointer made = expression();
  if (isSign(","))
    refuse("tuples are not among what par evaluates");
  return made;
}

ExpressionPointer TemplateExpressions::expression() {
  Level level(*this);
  ExpressionPointer made = either();
  while (isName("if")) {
    int line = words[at++].line;
    ExpressionPointer condition = either(), otherwise = takeName("else") ? expression() : nullptr;
    made = join(Expression::choose, "", line, std::move(condition), std::move(made), std::move(otherwise));
  }
  return made;
}

/// Operators of one rank, from left to right.
ExpressionPointer TemplateExpressions::chain(Part part, bool (TemplateExpressions::*isOperator)() const) {
  ExpressionPointer made = (this->*part)();
  while ((this->*isOperator)()) {
    Word sign = words[at++];
    made = join(Expression::binary, sign.text, sign.line, std::move(made), (this->*part)());
  }
  return made;
}

ExpressionPointer TemplateExpressions::either() {
  return chain(&TemplateExpressions::both, &TemplateExpressions::isOr);
}
ExpressionPointer TemplateExpressions::both() {
  return chain(&TemplateExpressions::negated, &TemplateExpressions::isAnd);
}

ExpressionPointer TemplateExpressions::negated() {
  Level level(*this);
  int line = word().line;
  if (takeName("not"))
    return join(Expression::negate, "", line, negated());
  return compared();
}

ExpressionPointer TemplateExpressions::compared() {
  ExpressionPointer made = sum();
  bool hasOne = false;
  while (true) {
    int line = word().line;
    bool notIn = isName("not") && word(1).kind == Word::name && word(1).text == "in";
    std::string sign = notIn ? "in" : word().text;
    bool is = notIn || isName("in");
    for (const char *other : {"==", "!=", "<=", ">=", "<", ">"})
      is |= isSign(other);
    if (!is)
      return made;
    if (hasOne)
      refuse("comparisons that follow each other are not among what par evaluates");
    hasOne = true;
    at += notIn ? 2 : 1;
    takesTuple = sign == "in";
    made = join(Expression::binary, sign, line, std::move(made), sum());
    if (notIn)
      made = join(Expression::negate, "", line, std::move(made));
  }
}

ExpressionPointer TemplateExpressions::sum() {
  return chain(&TemplateExpressions::text, &TemplateExpressions::isSum);
}
ExpressionPointer TemplateExpressions::text() {
  return chain(&TemplateExpressions::product, &TemplateExpressions::isJoin);
}

ExpressionPointer TemplateExpressions::product() {
  ExpressionPointer made = chain(&TemplateExpressions::signedValue, &TemplateExpressions::isProduct);
  if (isSign("/") || isSign("**"))
    refuse("'" + describe() + "' is not among what par evaluates");
  return made;
}

ExpressionPointer TemplateExpressions::signedValue() {
  Level level(*this);
  int line = word().line;
  if (takeSign("-"))
    return filtered(join(Expression::minus, "", line, postfix(primary())));
  return filtered(postfix(primary()));
}

ExpressionPointer TemplateExpressions::filtered(ExpressionPointer made) {
  while (true) {
    int line = word().line;
    if (takeSign("|")) {
      std::string name = expectName();
      made = join(Expression::filter, name, line, std::move(made));
      if (takeSign("("))
        arguments(*made);
    } else if (takeName("is")) {
      bool isNot = takeName("not");
      made = join(Expression::test, expectName(), line, std::move(made));
      if (isNot)
        made = join(Expression::negate, "", line, std::move(made));
    } else {
      return made;
    }
  }
}

/// Behind the parenthesis.
void TemplateExpressions::arguments(Expression &call) {
  while (!takeSign(")")) {
    if (word().kind == Word::name && word(1).kind == Word::sign && word(1).text == "=") {
      std::string name = expectName();
      ++at;
      call.named.emplace_back(name, expression());
      deepen(call, call.named.back().second);
    } else {
      call.parts.push_back(expression());
      deepen(call, call.parts.back());
    }
    if (!isSign(")"))
      expectSign(",");
  }
}

ExpressionPointer TemplateExpressions::postfix(ExpressionPointer made) {
  while (true) {
    int line = word().line;
    if (takeSign(".")) {
      if (word().kind == Word::integer)
        made = join(Expression::index, "", line, std::move(made), primary());
      else
        made = join(Expression::member, expectName(), line, std::move(made));
    } else if (takeSign("[")) {
      made = subscript(std::move(made), line);
    } else if (takeSign("(")) {
      if (made->kind != Expression::variable && made->kind != Expression::member)
        refuse("only functions and methods with a name are called");
      made->kind = made->kind == Expression::variable ? Expression::call : Expression::method;
      arguments(*made);
    } else {
      return made;
    }
  }
}

ExpressionPointer TemplateExpressions::subscript(ExpressionPointer object, int line) {
  ExpressionPointer bounds[3];
  int count = 0;
  bool isSlice = false;
  while (!takeSign("]")) {
    if (takeSign(":")) {
      isSlice = true;
      if (++count > 2)
        refuse("a slice has at most three parts");
    } else if (bounds[count]) {
      refuse("'" + describe() + "' where ] is expected");
    } else {
      bounds[count] = expression();
    }
  }
  if (isSlice)
    return join(Expression::slice, "", line, std::move(object), std::move(bounds[0]), std::move(bounds[1]),
                std::move(bounds[2]));
  if (!bounds[0])
    refuse("an index is missing");
  return join(Expression::index, "", line, std::move(object), std::move(bounds[0]));
}

ExpressionPointer TemplateExpressions::primary() {
  Word first = word();
  bool mayBeTuple = std::exchange(takesTuple, false);
  if (first.kind == Word::end || first.kind == Word::close)
    refuse("a value is missing");
  ++at;
  if (first.kind == Word::name)
    return named(first);
  ExpressionPointer made = make(Expression::literal, first.line, "", {});
  if (first.kind == Word::integer)
    made->value = std::stoll(first.text);
  else if (first.kind == Word::string)
    made->value = strings(first.text);
  else if (first.text == "(")
    return parenthesis(mayBeTuple);
  else if (first.text == "[")
    items(*made, Expression::list, "]");
  else if (first.text == "{")
    items(*made, Expression::map, "}");
  else
    throw TemplateError(first.line, "'" + first.text + "' where a value is expected");
  return made;
}

/// Texts that follow each other are one.
std::string TemplateExpressions::strings(std::string text) {
  while (word().kind == Word::string)
    text += words[at++].text;
  return text;
}

/// Behind `in` a list of Python's other kind is as good as a list.
ExpressionPointer TemplateExpressions::parenthesis(bool mayBeTuple) {
  ExpressionPointer first = mayBeTuple ? expression() : whole();
  if (takeSign(")"))
    return first;
  expectSign(",");
  int line = first->line;
  ExpressionPointer made = join(Expression::list, "", line, std::move(first));
  items(*made, Expression::list, ")");
  for (const char *sign : {"+", "*", "[", "|", "."})
    if (isSign(sign))
      refuse("tuples are not among what par evaluates");
  return made;
}

void TemplateExpressions::items(Expression &made, Expression::Kind kind, const char *close) {
  made.kind = kind;
  while (!takeSign(close)) {
    made.parts.push_back(expression());
    deepen(made, made.parts.back());
    if (kind == Expression::map) {
      expectSign(":");
      made.parts.push_back(expression());
      deepen(made, made.parts.back());
    }
    if (!isSign(close))
      expectSign(",");
  }
}

ExpressionPointer TemplateExpressions::named(const Word &first) {
  static const std::pair<const char *, Json> constants[] = {{"true", true},    {"True", true},
                                                            {"false", false},  {"False", false},
                                                            {"none", nullptr}, {"None", nullptr}};
  for (const auto &[name, value] : constants)
    if (first.text == name) {
      ExpressionPointer made = make(Expression::literal, first.line, "", {});
      made->value = value;
      return made;
    }
  return make(Expression::variable, first.line, first.text, {});
}

} // namespace par::chat
