/** What an editor shows of functions with promises besides their types: their comments, as the sources have them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

interface Documented {
  readonly name: string
  readonly comment: string
  readonly signature: string
}

const members = /((?: {2}\/\*\*(?:(?!\*\/).)*\*\/\n)?) {2}readonly (\w+): (.*?)(?=\n {2}\/\*\*|\n {2}readonly |$)/gs

/** The functions of the interfaces of a file that are called `…Client`, whose members are indented by two spaces. */
const functionsIn = (text: string): ReadonlyArray<Documented> =>
  [...text.matchAll(/^export interface (\w*)Client\b[^{]*\{\n(.*?)\n\}\n/gms)].flatMap(([, of = "", body = ""]) =>
    [...body.matchAll(members)].map(([, comment = "", name = "", signature = ""]) => ({
      name: `${of}.${name}`,
      comment,
      signature
    }))
  )

/** Its own parameters are ids and names, or references such as that of a drive or a workbook. */
const textsOnly = /^\(\s*(?:\w+: (?:string|\w+Ref|Workbooks\.Workbook),?\s*)*(?:options\?: CallOptions\s*)?\) =>/

/**
 * Returns how many functions the interfaces of a folder have, those without a sentence that says what they do, and those without an
 * `@example` though they take more than ids and names.
 */
export const undocumented = (folder: string) => {
  const functions = readdirSync(folder).flatMap((file) => functionsIn(readFileSync(join(folder, file), "utf8")))
  const names = (without: (one: Documented) => boolean) => functions.filter(without).map(({ name }) => name)
  return {
    count: functions.length,
    sentences: names(({ comment }) => !/\w[.;]/.test(comment)),
    examples: names(({ comment, signature }) => !textsOnly.test(signature) && !/@example\s/.test(comment))
  }
}
