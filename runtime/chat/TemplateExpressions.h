#ifndef PAR_CHAT_TEMPLATEEXPRESSIONS_H
#define PAR_CHAT_TEMPLATEEXPRESSIONS_H

#include "chat/TemplateSyntax.h"
#include "chat/TemplateWords.h"

namespace par::chat {

/// Expressions of Jinja, from what binds least to what binds most.
class TemplateExpressions : public TemplateWords {
protected:
  using TemplateWords::TemplateWords;

  /// What stands alone in a tag.
  ExpressionPointer whole();
  ExpressionPointer expression();
  ExpressionPointer either();

  bool takesTuple = false; ///< what comes next follows `in`

private:
  ExpressionPointer make(Expression::Kind kind, int line, std::string name,
                         std::vector<ExpressionPointer> parts);
  template <typename... Parts>
  ExpressionPointer join(Expression::Kind kind, std::string name, int line, Parts... parts) {
    std::vector<ExpressionPointer> all;
    (all.push_back(std::move(parts)), ...);
    return make(kind, line, std::move(name), std::move(all));
  }
  void deepen(Expression &made, const ExpressionPointer &part);

  using Part = ExpressionPointer (TemplateExpressions::*)();
  ExpressionPointer chain(Part part, bool (TemplateExpressions::*isOperator)() const);
  bool isOr() const { return isName("or"); }
  bool isAnd() const { return isName("and"); }
  bool isSum() const { return isSign("+") || isSign("-"); }
  bool isJoin() const { return isSign("~"); }
  bool isProduct() const { return isSign("*") || isSign("//") || isSign("%"); }
  ExpressionPointer both();
  ExpressionPointer negated();
  ExpressionPointer compared();
  ExpressionPointer sum();
  ExpressionPointer text();
  ExpressionPointer product();
  ExpressionPointer signedValue();
  ExpressionPointer filtered(ExpressionPointer made);
  ExpressionPointer postfix(ExpressionPointer made);
  ExpressionPointer subscript(ExpressionPointer object, int line);
  ExpressionPointer primary();
  ExpressionPointer parenthesis(bool mayBeTuple);
  ExpressionPointer named(const Word &first);
  std::string strings(std::string text);
  void arguments(Expression &call);
  void items(Expression &made, Expression::Kind kind, const char *close);
};

} // namespace par::chat
#endif
