/** Which failures of work items are alike: their fingerprint, and what of a message tells them apart. */
import type { StepId } from "@signalbox/api/contract/Ids"
import { createHash } from "node:crypto"
import type { Exception, FailureKind, Run } from "./State.ts"

/** Characters of a message that are read, and of a normalised one that are kept. */
const longestRead = 4000
const longestKept = 500

/** Quoted paths. The closing quote may open the next. */
const quotedPath = /(["'`])[^"'`/\\]*[/\\][^"'`]*(?=\1)/gu

/** Words with a digit: numbers, hex, UUIDs, and ids such as INV-2031. */
const words = /[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*/gu
const digit = /\p{N}/u

/** Decimals, dates, times, versions and addresses, each part of which is a number already. */
const numbers = /#(?:[.,:/-]?#)+/gu

/**
 * Returns a message without what differs between failures of one kind: numbers, ids and quoted paths are `#`. A
 * normalised message stays as it is: no replacement is longer than what it replaces, or matches again.
 */
export const normalise = (message: string): string =>
  message
    .slice(0, longestRead)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .replaceAll(quotedPath, "$1#")
    .replaceAll(words, (word) => (digit.test(word) ? "#" : word))
    .replaceAll(numbers, "#")
    .trim()
    .slice(0, longestKept)
    .toWellFormed()
    .trimEnd()

/** The failure of an item without an exception. */
const unknown: Exception = { code: "", type: "unspecified", message: "" }

/** Returns the kind of a failure in a step of a process. */
export const failureOf = (process: string, step: StepId | null, exception: Exception | null): FailureKind => {
  const { code, message: text, type } = exception ?? unknown
  const message = normalise(text)
  const parts = JSON.stringify([process, step, type, code, message])
  return { fingerprint: createHash("sha256").update(parts).digest("hex").slice(0, 32), step, type, code, message }
}

/** Like `failureOf`, in a step of a run. */
export const failureIn = (run: Pick<Run, "processId" | "steps">, step: number, exception: Exception | null) =>
  failureOf(run.processId, run.steps[step]?.id ?? null, exception)
