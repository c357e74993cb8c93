/** Schemas for what was read from JSON: nobody has to look again at every value of it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

const anyJson = SchemaAST.isDeclaration(Schema.Json.ast) ? Schema.Json.ast.run : null

/** The same schema, which takes anything where it is for any JSON. */
export const trusting = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (ast.encoding !== undefined) return ast
  const { annotations, checks, context } = ast
  if (SchemaAST.isDeclaration(ast)) {
    return ast.run === anyJson
      ? new SchemaAST.Declaration([], () => Effect.succeed, annotations, checks, undefined, context)
      : ast
  }
  if (SchemaAST.isUnion(ast)) {
    return new SchemaAST.Union(ast.types.map(trusting), ast.options, annotations, checks, undefined, context)
  }
  if (SchemaAST.isArrays(ast)) {
    const [elements, rest] = [ast.elements.map(trusting), ast.rest.map(trusting)]
    return new SchemaAST.Arrays(ast.isMutable, elements, rest, annotations, checks, undefined, context)
  }
  if (!SchemaAST.isObjects(ast)) return ast
  const properties = ast.propertySignatures.map(
    ({ name, type }) => new SchemaAST.PropertySignature(name, trusting(type))
  )
  return new SchemaAST.Objects(properties, ast.indexSignatures, annotations, checks, undefined, context)
}
