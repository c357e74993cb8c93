/**
 * Numbers in JSON that JavaScript does not have, such as ids of 20 digits: a program reads the nearest one. What it was
 * given at which path is remembered, so that the rounded number is not saved in its place.
 */
import * as Predicate from "effect/Predicate"
import * as ExactJson from "@signalbox/transport/ExactJson"

/** The path of a number that was rounded. */
export type RoundedPath = ReadonlyArray<string>

/** Of fewer characters and without an exponent every number is exact. */
const mayBeRounded = /(?:^|[[:,\s])-?(?:\d[\d.]{14}|\d[\d.]{0,13}[eE])/

/** Like `JSON.parse`, with the paths of the numbers that were rounded. */
export const parse = (text: string): { readonly json: unknown; readonly rounded: ReadonlyArray<RoundedPath> } => {
  if (!mayBeRounded.test(text)) return { json: JSON.parse(text), rounded: [] }
  const json = ExactJson.parse(text)
  const paths: Array<RoundedPath> = []
  const root: { readonly [key: string]: unknown } = { json }
  const waiting: Array<{ readonly container: object; readonly path: RoundedPath }> = [{ container: root, path: [] }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { container, path } = next
    for (const [key, value] of Object.entries(container)) {
      const at = container === root ? path : [...path, key]
      if (ExactJson.isRaw(value)) {
        paths.push(at)
        Object.defineProperty(container, key, {
          value: Number(value.rawJSON),
          writable: true,
          enumerable: true,
          configurable: true
        })
      } else if (Predicate.isObjectOrArray(value)) waiting.push({ container: value, path: at })
    }
  }
  return { json: root["json"], rounded: paths }
}

/** The paths below a path. */
export const below = (rounded: ReadonlyArray<RoundedPath>, path: RoundedPath): ReadonlyArray<RoundedPath> =>
  rounded.flatMap((one) => (path.every((key, index) => one[index] === key) ? [one.slice(path.length)] : []))
