/**
 * YAML whose texts know their lines, so that whatever is wrong with one can be found.
 */
import * as Result from "effect/Result"
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml"
import type { Document, ParsedNode, YAMLMap } from "yaml"
import { InvalidRecipe } from "../../InvalidRecipe.ts"

/** A text of a file, and where it is. */
export interface Located {
  readonly text: string
  readonly file: string
  /** Counted from 1. */
  readonly line: number
}

/** An error about a line of a file, or about the file. */
export const invalid = (where: { readonly file: string; readonly line: number | null }, what: string) =>
  new InvalidRecipe({
    file: where.file,
    line: where.line,
    message: `${where.file}${where.line === null ? "" : `:${where.line}`}: ${what}`
  })

/** A value of a YAML file. Its methods throw nothing: they fail with the line at fault. */
export interface Value {
  readonly line: number
  readonly isEmpty: boolean
  readonly text: () => Result.Result<Located, InvalidRecipe>
  readonly list: () => Result.Result<ReadonlyArray<Value>, InvalidRecipe>
  /** Keys and values of a mapping. */
  readonly entries: () => Result.Result<ReadonlyArray<readonly [key: string, value: Value]>, InvalidRecipe>
  readonly isMapping: boolean
}

interface Source {
  readonly file: string
  readonly document: Document
  readonly lines: LineCounter
}

const isEmptyScalar = (node: unknown) =>
  node === null || node === undefined || (isScalar(node) && (node.value === null || node.value === ""))

/** `path` is what messages call the value. */
const valueOf = (source: Source, node: unknown, path: string, fallback: number): Value => {
  const { document, file, lines } = source
  const target = isAlias(node) ? node.resolve(document) : node
  const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : undefined
  const line = range ? lines.linePos(range[0]).line : fallback
  const refuse = (what: string) => Result.fail(invalid({ file, line }, `${path}: expected ${what}`))
  const pairsOf = (map: YAMLMap) =>
    map.items.map((pair): readonly [string, Value] => {
      const key = isScalar(pair.key) ? String(pair.key.value) : "?"
      const keyRange = isScalar(pair.key) ? pair.key.range : undefined
      const at = keyRange ? lines.linePos(keyRange[0]).line : line
      return [key, valueOf(source, pair.value, path === "" ? key : `${path}.${key}`, at)]
    })
  return {
    line,
    isEmpty: isEmptyScalar(target),
    isMapping: isMap(target),
    text: () =>
      isScalar(target) && typeof target.value === "string" && target.value.trim() !== ""
        ? Result.succeed({ text: target.value.trim(), file, line })
        : refuse("a text; put it in quotes if it looks like a number"),
    list: () => {
      if (isEmptyScalar(target)) return Result.succeed([])
      if (!isSeq(target)) return refuse("a list")
      return Result.succeed(target.items.map((item, index) => valueOf(source, item, `${path}[${index}]`, line)))
    },
    entries: () => {
      if (isEmptyScalar(target)) return Result.succeed([])
      return isMap(target) ? Result.succeed(pairsOf(target)) : refuse("a mapping")
    }
  }
}

/** Parses a file. Fails at the first line that is no YAML. */
export const parse = (file: string, text: string): Result.Result<Value, InvalidRecipe> => {
  const lines = new LineCounter()
  const document: Document.Parsed<ParsedNode> = parseDocument(text, { lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined) {
    const line = error.linePos?.[0].line ?? null
    const why = (error.message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, "")
    return Result.fail(invalid({ file, line }, `not valid YAML: ${why}`))
  }
  return Result.succeed(valueOf({ file, document, lines }, document.contents, "", 1))
}

/** The value of a key of a mapping; null where it is missing or empty. */
export const field = (value: Value, name: string): Result.Result<Value | null, InvalidRecipe> =>
  Result.map(value.entries(), (entries) => {
    const found = entries.find(([key]) => key === name)?.[1]
    return found === undefined || found.isEmpty ? null : found
  })

/** The texts of a list below a key; none where it is missing. */
export const texts = (value: Value, name: string): Result.Result<ReadonlyArray<Located>, InvalidRecipe> =>
  Result.gen(function* () {
    const found = yield* field(value, name)
    const items = found === null ? [] : yield* found.list()
    const all: Array<Located> = []
    for (const item of items) all.push(yield* item.text())
    return all
  })
