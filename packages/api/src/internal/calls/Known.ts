/**
 * Members of filters, options and definitions that nobody knows, such as a misspelled one: refused before anything is sent, since a
 * filter that is ignored lists everything.
 */
import { unknownName } from "@signalbox/transport/OptionError"
import { suggest } from "@signalbox/transport/Suggestions"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Stream from "effect/Stream"
import { InvalidRequest } from "../../ControlRoomError.ts"
import type { ListOptions, NamedListOptions } from "../../ListOptions.ts"

/** The names of the members of a parameter, and what its members are called. */
export interface Names {
  readonly word: "filter" | "option" | "member"
  readonly names: ReadonlyArray<string>
  /** Those of members that are objects themselves. */
  readonly within?: Readonly<Record<string, Names>> | undefined
}

/** Those of all members of a union. */
type KeyOf<O> = O extends unknown ? keyof O & string : never

/** Returns the names of all members of `O`: one that is missing, or that `O` does not have, does not compile. */
export const names = <O>(
  word: Names["word"],
  all: Readonly<Record<KeyOf<O>, 1>>,
  within?: Names["within"] & Partial<Record<KeyOf<O>, Names>>
): Names => ({ word, names: Object.keys(all), within })

/** What a parameter may have: members with these names, or those of a definition of the contract, however deep. */
export type Expected = Names | Schema.Top

export const page = names<ListOptions>("option", { limit: 1, cursor: 1 })
export const pageSize = names<Omit<ListOptions, "cursor">>("option", { limit: 1 })
export const namedPage = names<NamedListOptions>("option", { limit: 1, cursor: 1, name: 1 })
export const namedPageSize = names<Omit<NamedListOptions, "cursor">>("option", { limit: 1, name: 1 })

interface Unknown extends Names {
  readonly path: string
  readonly name: string
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Types of which no object is. */
const isLeaf = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isNull(ast) ||
  SchemaAST.isUndefined(ast) ||
  SchemaAST.isString(ast) ||
  SchemaAST.isNumber(ast) ||
  SchemaAST.isBoolean(ast) ||
  SchemaAST.isLiteral(ast)

/** Whether a value is of this variant of a union, as far as its literals say. */
const isOf = (ast: SchemaAST.AST, value: Readonly<Record<string, unknown>>): boolean =>
  !isLeaf(ast) &&
  SchemaAST.isArrays(ast) === Array.isArray(value) &&
  (!SchemaAST.isObjects(ast) ||
    ast.propertySignatures.every(
      ({ name, type }) => !SchemaAST.isLiteral(type) || Object.is(value[String(name)], type.literal)
    ))

/** The first member that a schema does not have. What is no object at all is left to the schema. */
const unknownIn = (ast: SchemaAST.AST, value: unknown, path: string): Unknown | undefined => {
  if (!isObject(value)) return undefined
  const at = (name: string) => (path === "" ? name : `${path}.${name}`)
  if (SchemaAST.isSuspend(ast)) return unknownIn(ast.thunk(), value, path)
  if (SchemaAST.isUnion(ast)) {
    const found = ast.types.filter((type) => isOf(type, value)).map((type) => unknownIn(type, value, path))
    return found.includes(undefined) ? undefined : found[0]
  }
  if (SchemaAST.isArrays(ast) && Array.isArray(value)) {
    const [rest] = ast.rest
    return firstOf(value, (item, index) => {
      const type = ast.elements[index] ?? rest
      return type === undefined ? undefined : unknownIn(type, item, at(String(index)))
    })
  }
  if (!SchemaAST.isObjects(ast) || ast.indexSignatures.length > 0) return undefined
  const known = ast.propertySignatures.map(({ name }) => String(name))
  const name = unknownName(value, known)
  if (name !== undefined) return { word: "member", names: known, path: at(name), name }
  return firstOf(ast.propertySignatures, ({ name, type }) => unknownIn(type, value[String(name)], at(String(name))))
}

const firstOf = <A, B>(all: ReadonlyArray<A>, look: (one: A, index: number) => B | undefined): B | undefined => {
  for (const [index, one] of all.entries()) {
    const found = look(one, index)
    if (found !== undefined) return found
  }
  return undefined
}

const inNames = ({ names, within = {}, word }: Names, given: unknown, path = ""): Unknown | undefined => {
  if (!isObject(given)) return undefined
  const name = unknownName(given, names)
  if (name !== undefined) return { word, names, path: path + name, name }
  return firstOf(Object.entries(within), ([member, inner]) => inNames(inner, given[member], `${path}${member}.`))
}

const refusal = (of: string, expected: Expected, given: unknown): InvalidRequest | undefined => {
  const unknown = "ast" in expected ? unknownIn(expected.ast, given, "") : inNames(expected, given)
  if (unknown === undefined) return undefined
  const { name, path, word } = unknown
  return refused(of, `${path}: no such ${word} of ${of}; ${suggest(name, unknown.names)}`)
}

/** The refusal of an input by the function that got it; nothing was sent. */
export const refused = (of: string, message: string): InvalidRequest =>
  new InvalidRequest({
    code: "INVALID_REQUEST",
    message,
    request: { operation: of.charAt(0).toUpperCase() + of.slice(1), method: "", path: "", attempts: 0, requestId: null }
  })

/**
 * Refuses members that the parameters of a function do not have, by the positions of the parameters: the last argument of `Effect.fn`.
 * `of` is the function as programs call it, such as `workItems.create`.
 */
export const refusing =
  (of: string, parameters: Readonly<Record<number, Expected>>) =>
  <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    ...args: ReadonlyArray<unknown>
  ): Effect.Effect<A, E | InvalidRequest, R> => {
    for (const [index, expected] of Object.entries(parameters)) {
      const problem = refusal(of, expected, args[Number(index)])
      if (problem !== undefined) return Effect.fail(problem)
    }
    return effect
  }

/** Like `refusing`, as a step of a function whose types `refusing` would lose. */
export const refuseUnknown = (of: string, expected: Expected, given: unknown): Effect.Effect<void, InvalidRequest> =>
  refusing(of, { 0: expected })(Effect.void, given)

/** Like `refusing`, for the one object that a function with a stream takes. */
export const refusingStream =
  (of: string, expected: Expected, given: unknown) =>
  <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E | InvalidRequest, R> => {
    const problem = refusal(of, expected, given)
    return problem === undefined ? stream : Stream.fail(problem)
  }
