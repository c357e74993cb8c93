/**
 * Numbers in JSON that JavaScript does not have, such as ids of 20 digits: a program reads the nearest one. What it was
 * given at which path is remembered, so that the rounded number is not saved in its place.
 */

/** The path of a number that was rounded. */
export type RoundedPath = ReadonlyArray<string>

/** Of fewer characters and without an exponent every number is exact. */
const mayBeRounded = /(?:^|[[:,\s])-?(?:\d[\d.]{14}|\d[\d.]{0,13}[eE])/

const digitsOf = (number: string) =>
  number
    .replace(/[eE].*/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+/, "")
    .replace(/0+$/, "")

const isExact = (source: string): boolean => {
  const written = String(Number(source))
  return written === source || (/[.eE]/.test(source) && digitsOf(written) === digitsOf(source))
}

/** Stands for a rounded number until its path is known. */
class Rounded {
  readonly number: number
  constructor(number: number) {
    this.number = number
  }
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

// All versions of Node that are supported give the source of a number; TypeScript does not declare it yet.
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Like `JSON.parse`, with the paths of the numbers that were rounded. */
export const parse = (text: string): { readonly json: unknown; readonly rounded: ReadonlyArray<RoundedPath> } => {
  if (!mayBeRounded.test(text)) return { json: JSON.parse(text), rounded: [] }
  const paths: Array<RoundedPath> = []
  let found = false
  const json = parseWith(text, (_, value, context) => {
    if (typeof value !== "number" || context?.source === undefined || isExact(context.source)) return value
    found = true
    return new Rounded(value)
  })
  if (!found) return { json, rounded: [] }
  const root: { readonly [key: string]: unknown } = { json }
  const waiting: Array<{ readonly container: object; readonly path: RoundedPath }> = [{ container: root, path: [] }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { container, path } = next
    for (const [key, value] of Object.entries(container)) {
      const at = container === root ? path : [...path, key]
      if (value instanceof Rounded) {
        paths.push(at)
        Object.defineProperty(container, key, {
          value: value.number,
          writable: true,
          enumerable: true,
          configurable: true
        })
      } else if (typeof value === "object" && value !== null) waiting.push({ container: value, path: at })
    }
  }
  return { json: root["json"], rounded: paths }
}

/** The paths below a path. */
export const below = (rounded: ReadonlyArray<RoundedPath>, path: RoundedPath): ReadonlyArray<RoundedPath> =>
  rounded.flatMap((one) => (path.every((key, index) => one[index] === key) ? [one.slice(path.length)] : []))
