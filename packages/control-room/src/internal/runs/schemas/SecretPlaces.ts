/**
 * The places of payloads whose values are secret: those that the input schema of their process marks with `x-secret` or `writeOnly`, and
 * those that it names in `sensitive`.
 */
import { escaped, unescaped } from "../../engine/JsonPointer.ts"
import { isList, isObject, type Json, type JsonObject, type Work } from "./Place.ts"
import * as SecretParts from "./SecretParts.ts"

type Part = SecretParts.Part

/** JSON without its secrets: null is in the place of each, and the pointers to them. */
export interface Masked {
  readonly json: Json
  readonly masked: ReadonlyArray<string>
}

export interface SecretPlaces {
  /** Whether no payload can have a secret. */
  readonly isEmpty: boolean
  readonly mask: (payload: Json) => Masked
  /**
   * A payload that somebody sends who sees secrets masked, in the place of another: where it has null or nothing in place of a secret,
   * the stored one stays. Returns the pointer to a list with secrets that has another length, in which nobody can say what stays.
   */
  readonly keep: (sent: Json, stored: Json) => { readonly json: Json } | { readonly unclear: string }
  /** The secrets of a payload as texts: whole ones, and the texts and numbers in them. */
  readonly textsOf: (payload: Json) => ReadonlyArray<string>
  /** Whether the value at a pointer is a secret or a part of one. */
  readonly covers: (pointer: string) => boolean
  /**
   * What the definition says, as pointers in which `*` is any key or index and `(…)` a pattern; the last is `more` when there are others, such
   * as those of schemas inside themselves.
   */
  readonly patterns: ReadonlyArray<string>
}

/** Steps for one payload: about 40 ms. One that takes more is a secret as a whole. */
const mostSteps = 2_500_000
const mostPatterns = 200
const mostStepsOfPatterns = 20_000

/** In the place of the patterns that are not listed. */
export const more = "…"

/** The whole payload in the place of what took too long. */
const whole: Masked = { json: null, masked: [""] }

/** All parts that apply to a value and lead to a secret, with those that apply because they do. */
const closed = (parts: ReadonlyArray<Part>, work: Work): ReadonlyArray<Part> => {
  const found = new Set(parts.filter(({ reaches }) => reaches))
  for (const part of found) {
    work.left -= 1 + part.same.length
    if (work.left < 0) break
    for (const one of part.same) if (one.reaches) found.add(one)
  }
  return [...found]
}

const isSecret = (parts: ReadonlyArray<Part>) => parts.some((part) => part.isSecret)

const ofMember = (parts: ReadonlyArray<Part>, key: string, work: Work) =>
  closed(
    parts.flatMap((part) => {
      work.left -= 1 + part.patterns.length
      const member = part.members.get(key)
      const fitting = part.patterns.filter(({ match }) => match(key, work) !== false)
      // A pattern that cannot be applied may name it or not.
      const isNamed = member !== undefined || fitting.some(({ match }) => match(key, work) === true)
      return [
        ...(member === undefined ? [] : [member]),
        ...fitting.map((pattern) => pattern.part),
        ...(isNamed ? [] : part.others),
        ...part.each
      ]
    }),
    work
  )

const ofItem = (parts: ReadonlyArray<Part>, index: number, work: Work) =>
  closed(
    parts.flatMap((part) => {
      const place = part.places.get(index)
      return [...(place === undefined ? [] : [place]), ...(index < part.from ? [] : part.rest), ...part.each]
    }),
    work
  )

const entriesOf = (value: JsonObject | ReadonlyArray<Json>): ReadonlyArray<readonly [string | number, Json]> =>
  isList(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value)

const inside = (parts: ReadonlyArray<Part>, key: string | number, work: Work) =>
  typeof key === "number" ? ofItem(parts, key, work) : ofMember(parts, key, work)

const rebuilt = (value: JsonObject | ReadonlyArray<Json>, entries: ReadonlyArray<readonly [string | number, Json]>) =>
  isList(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)

/** Calls back with each secret and the pointer to it, and returns the JSON with what that returns in its place. */
const replaced = (
  value: Json,
  parts: ReadonlyArray<Part>,
  at: string,
  work: Work,
  secret: (value: Json, at: string) => Json
): Json => {
  work.left -= 1
  if (parts.length === 0 || work.left < 0) return value
  if (isSecret(parts)) return secret(value, at)
  if (!isObject(value) && !isList(value)) return value
  let changed = false
  const entries = entriesOf(value).map(([key, member]) => {
    const now = replaced(member, inside(parts, key, work), `${at}/${escaped(String(key))}`, work, secret)
    changed ||= now !== member
    return [key, now] as const
  })
  return changed ? rebuilt(value, entries) : value
}

/** Where `keep` cannot say what stays. */
interface Unclear {
  at: string | null
}

/** What stays of stored JSON when other JSON is sent for it; undefined: nothing, neither is sent. */
const kept = (
  sent: Json | undefined,
  stored: Json | undefined,
  parts: ReadonlyArray<Part>,
  at: string,
  work: Work,
  unclear: Unclear
): Json | undefined => {
  work.left -= 1
  if (stored === undefined || parts.length === 0 || work.left < 0) return sent
  const isNothing = sent === undefined || sent === null
  if (isSecret(parts)) return isNothing ? stored : sent
  const below = (one: Json | undefined, other: Json | undefined, key: string | number) =>
    kept(one, other, inside(parts, key, work), `${at}/${escaped(String(key))}`, work, unclear)
  if (isList(stored)) {
    if (!isNothing && !isList(sent)) return sent
    const masked = replaced(stored, parts, at, work, () => null) !== stored
    if (!masked) return sent
    if (isNothing) return stored.map((item, index) => below(undefined, item, index) ?? null)
    if (sent.length !== stored.length) unclear.at ??= at
    return sent.map((item, index) => below(item, stored[index], index) ?? null)
  }
  if (!isObject(stored) || (!isNothing && !isObject(sent))) return sent
  const given: JsonObject = isNothing ? {} : sent
  const members = new Map(Object.entries(given))
  for (const [key, member] of Object.entries(stored)) {
    const now = below(Object.hasOwn(given, key) ? given[key] : undefined, member, key)
    if (now !== undefined) members.set(key, now)
  }
  return isNothing && members.size === 0 ? sent : Object.fromEntries(members)
}

/** A value as the texts in which it may stand in other texts. */
const texts = (value: Json): ReadonlyArray<string> =>
  typeof value === "string"
    ? [value]
    : isObject(value) || isList(value)
      ? [JSON.stringify(value), ...entriesOf(value).flatMap(([, member]) => texts(member))]
      : [JSON.stringify(value)]

/** The pointers that lead to secrets, for people. */
const patternsOf = (root: Part): ReadonlyArray<string> => {
  const found = new Set<string>()
  let left = mostStepsOfPatterns
  let isMore = false
  const walk = (part: Part, at: string, above: ReadonlySet<Part>) => {
    left -= 1
    if (!part.reaches) return
    if (above.has(part) || left < 0 || found.size >= mostPatterns) {
      isMore = true
      return
    }
    if (part.isSecret) {
      found.add(at)
      return
    }
    const here = new Set([...above, part])
    for (const one of part.same) walk(one, at, here)
    for (const [key, member] of part.members) walk(member, `${at}/${escaped(key)}`, here)
    for (const { part: member, source } of part.patterns) walk(member, `${at}/(${escaped(source)})`, here)
    for (const [index, item] of part.places) walk(item, `${at}/${index}`, here)
    for (const one of [...part.others, ...part.rest, ...part.each]) walk(one, `${at}/${SecretParts.each}`, here)
  }
  walk(root, "", new Set())
  return [...[...found].toSorted(), ...(isMore ? [more] : [])]
}

const none: SecretPlaces = {
  isEmpty: true,
  mask: (json) => ({ json, masked: [] }),
  keep: (json) => ({ json }),
  textsOf: () => [],
  covers: () => false,
  patterns: []
}

/** The secret places of a process. `schema`: its input schema, or null; `sensitive`: JSON pointers, in which `*` is any key or index. */
export const compile = (schema: Json, sensitive: ReadonlyArray<string>): SecretPlaces => {
  const root = SecretParts.partOf(schema, sensitive)
  if (!root.reaches) return none
  const begun = () => {
    const work: Work = { left: mostSteps, depth: 0 }
    return { work, parts: closed([root], work) }
  }
  return {
    isEmpty: false,
    mask: (payload) => {
      const { parts, work } = begun()
      const masked: Array<string> = []
      const json = replaced(payload, parts, "", work, (_, at) => {
        masked.push(at)
        return null
      })
      return work.left < 0 ? whole : { json, masked }
    },
    keep: (sent, stored) => {
      const { parts, work } = begun()
      const unclear: Unclear = { at: null }
      const json = kept(sent, stored, parts, "", work, unclear)
      // As it is masked as a whole, it stays as a whole.
      if (work.left < 0) return { json: sent === null ? stored : sent }
      return unclear.at === null ? { json: json ?? null } : { unclear: unclear.at }
    },
    textsOf: (payload) => {
      const { parts, work } = begun()
      const found: Array<string> = []
      replaced(payload, parts, "", work, (value) => {
        found.push(...texts(value))
        return value
      })
      return [...new Set(work.left < 0 ? texts(payload) : found)]
    },
    covers: (pointer) => {
      let { parts, work } = begun()
      for (const token of pointer.split("/").slice(1)) {
        if (isSecret(parts)) return true
        const key = unescaped(token)
        const isIndex = /^(0|[1-9]\d*)$/.test(key)
        parts = [...ofMember(parts, key, work), ...(isIndex ? ofItem(parts, Number(key), work) : [])]
      }
      return work.left < 0 || isSecret(parts)
    },
    patterns: patternsOf(root)
  }
}
