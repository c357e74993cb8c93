/** Lint rules of this repository, for what oxlint has no rule for. */

/** A cast that is not `as const` needs a comment on its line, or on the line above it, that says why it holds. */
const castReason = {
  meta: {
    type: "problem",
    docs: { description: "Requires a comment that says why a type assertion holds" }
  },
  create(context) {
    const explained = new Set()
    for (const { loc } of context.sourceCode.getAllComments()) {
      for (let line = loc.start.line; line <= loc.end.line + 1; line++) explained.add(line)
    }
    const check = (node) => {
      if (node.typeAnnotation.type === "TSTypeReference" && node.typeAnnotation.typeName.name === "const") return
      // `as unknown as T` is one cast: the outer one is reported.
      if (node.parent.type === "TSAsExpression") return
      if (explained.has(node.loc.start.line) || explained.has(node.typeAnnotation.loc.start.line)) return
      context.report({
        node,
        message: "A cast needs a comment on its line, or on the line above, that says why it holds"
      })
    }
    return { TSAsExpression: check, TSTypeAssertion: check }
  }
}

/** The type argument of a statement is a cast that nothing checks. */
const declaredRows = {
  meta: {
    type: "problem",
    docs: { description: "Refuses a type argument of `sql`: `query` and `queryOne` parse rows by their declaration" }
  },
  create(context) {
    return {
      TaggedTemplateExpression(node) {
        const isTyped = (node.typeArguments ?? node.typeParameters ?? null) !== null
        if (!isTyped || node.tag.type !== "Identifier" || node.tag.name !== "sql") return
        context.report({
          node,
          message: "Declare what the query selects: query(Row({ n: integer }), sql`...`) of @signalbox/sql/Table"
        })
      }
    }
  }
}

export default {
  meta: { name: "signalbox" },
  rules: { "cast-reason": castReason, "declared-rows": declaredRows }
}
