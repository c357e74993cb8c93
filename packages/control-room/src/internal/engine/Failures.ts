/** Which failures of work items are alike: their fingerprint, and what of a message tells them apart. */
import type { StepId } from "@signalbox/api/contract/Ids"
import { createHash } from "node:crypto"
import type { Exception, FailureKind, Run } from "./State.ts"

/** Characters of a message that are read, and of a normalised one that are kept. */
const longestRead = 4000
const longestKept = 500

/** Quoted paths. The closing quote may open the next. */
const quotedPath = /(["'`])[^"'`/\\]*[/\\][^"'`]*(?=\1)/gu

/** What says where something is: addresses of the web and of mail, and paths that begin at a root, a drive or a share. */
const places: ReadonlyArray<RegExp> = [
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`<>]*[^\s"'`<>.,;:!?)\]#]/giu,
  /[^\s"'`<>()[\]@,;:#]+@[^\s"'`<>()[\]@,;:#]*[^\s"'`<>()[\]@,;:.#]/gu,
  // Folders may have spaces in their names, up to the last backslash.
  /(?<![\p{L}\p{N}_])(?:[a-z]:\\|\\\\)(?:[^\s"'`<>|?*\\]+(?: [^\s"'`<>|?*\\]+)*\\)*[^\s"'`<>|?*\\]*[^\s"'`<>|?*.,;:!)\]#]/giu,
  /(?<![^\s("'`=:[])(?:~|\.\.?)?\/[^\s"'`<>]*[^\s"'`<>.,;:!?)\]#/]/gu,
  // Below the current folder: with a file that has an extension, unlike `and/or`.
  /(?<![^\s("'`=:[])[\p{L}\p{N}_.-]+(?:[/\\][\p{L}\p{N}_.-]+)*[/\\][\p{L}\p{N}_-]+\.[a-z][a-z0-9]{0,4}(?![\p{L}\p{N}_/\\-])/giu,
  // What systems say of a host: `getaddrinfo ENOTFOUND erp-north`.
  /(?<=(?<![\p{L}\p{N}_])(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) )[a-z0-9[][a-z0-9.:[\]-]*[a-z0-9\]]/giu
]

/**
 * Names of hosts: those that end like the names of domains do. A file or a class has such a name too, but for the end: countries whose
 * ending is also one of files or of members of classes (`pl`, `py`, `it`) count below a second name only.
 */
const hosts =
  /(?<![\p{L}\p{N}_.-])(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|local|lan|internal|intern|corp|test|example|invalid|cloud|eu|de|at|ch|li|lu|nl|be|fr|uk|ie|dk|se|no|fi|cz|sk|hu)(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])|(?<![\p{L}\p{N}_.-])(?:[a-z0-9-]+\.){2,}[a-z]{2}(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])/giu

/** What stands before a number that names a kind, such as the one of a status or an exit code. */
const beforeKind =
  /(?:(?:^|[^\p{L}\p{N}_ -] ?)code|(?<![\p{L}\p{N}_-])(?:(?:status|exit|error|return|result|response|reason)(?:[ _]?(?:code|status|no\.?|number))?|exited with(?: code)?|returned|http(?:\/[\d.#]{1,3})?|errno|sqlstate|hresult|signal))[ :=]{1,3}[([]?$/iu
const kind = /^(?:\d{1,5}|0x[0-9a-f]{1,8})$/iu
/**
 * Messages of SAP have a class and a number of three digits: `M3 305`, `00 055`, `FAGL_LEDGER_CUST 023`; without a space, as in `KI235`,
 * only before a colon, since ids look alike.
 */
const classOfSap = /(?<![\p{L}\p{N}_-])(?:[A-Z][A-Z0-9]|00|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+) $/u
const numberOfSap = /^ \d{3}(?![\p{L}\p{N}_-])/u
const namesKind = /^(?:ORA|TNS|PLS)-\d{5}$/u

/** Whether a word with a digit tells kinds of failures apart. */
const tellsKind = (word: string, offset: number, message: string): boolean => {
  const before = message.slice(Math.max(0, offset - 32), offset)
  const after = message.slice(offset + word.length, offset + word.length + 5)
  return (
    namesKind.test(word) ||
    (kind.test(word) && beforeKind.test(before)) ||
    (/^\d{3}$/u.test(word) && classOfSap.test(before)) ||
    (/^(?:[A-Z]\d|00)$/u.test(word) && numberOfSap.test(after)) ||
    (/^[A-Z][A-Z0-9]\d{3}$/u.test(word) && after.startsWith(":"))
  )
}

/** Words with a digit: numbers, hex, UUIDs, and ids such as INV-2031. */
const words = /[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*/gu
const digit = /\p{N}/u

/** Decimals, dates, times, versions and addresses, each part of which is a number already. */
const numbers = /#(?:[.,:/-]?#)+/gu

/**
 * Returns a message without what differs between failures of one kind: numbers, ids, paths, addresses and hosts are `#`. Numbers
 * that name a kind stay: of a status, an exit, a message of SAP. A normalised message stays as it is: no replacement is longer than
 * what it replaces, or matches again.
 */
export const normalise = (message: string): string => {
  const normal = normalised(message)
  // What was cut off at the end may have told a host from a longer word.
  return normal === message ? normal : normalise(normal)
}

const normalised = (message: string): string =>
  [...places, hosts]
    .reduce(
      (text, place) => text.replaceAll(place, "#"),
      message
        .slice(0, longestRead)
        .toWellFormed()
        .replaceAll(/[\s\p{Cc}]+/gu, " ")
        .replaceAll(quotedPath, "$1#")
    )
    .replaceAll(words, (word, offset: number, whole: string) =>
      digit.test(word) && !tellsKind(word, offset, whole) ? "#" : word
    )
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
