import { type Definition, type DefinitionInput, make } from "@signalbox/schedule/Definition"
import { occurrences } from "@signalbox/schedule/Occurrences"
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"

/** A definition named `s`. */
export const schedule = (input: Omit<DefinitionInput, "name">): Definition =>
  Result.getOrThrow(make({ name: "s", ...input }))

export const utc = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)

/** Instants without the part that is always the same. */
export const short = ({ at }: { readonly at: DateTime.Utc }): string =>
  DateTime.formatIso(at).replace(":00.000Z", "").replace(".000Z", "")

/** The times from a day up to before another. */
export const between = (input: Omit<DefinitionInput, "name">, from: string, to: string): ReadonlyArray<string> =>
  occurrences(schedule(input), utc(from), utc(to), 10_000).map(short)
