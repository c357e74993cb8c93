/**
 * A command line that cannot be read, in one line: what is wrong, which option or command was probably meant, where the
 * help is. The whole help would hide it.
 */
import * as Console from "effect/Console"
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import { nearest } from "@signalbox/transport/Suggestions"

const meant = (names: ReadonlyArray<string>) => (names.length === 0 ? "" : `: did you mean ${names.join(" or ")}?`)

/** The choices that a text such as `"new" | "failed"` names. */
const choicesIn = (expected: string) => [...expected.matchAll(/"([^"]+)"/g)].map(([, choice = ""]) => choice)

const expectedOf = (expected: string) => {
  const choices = choicesIn(expected)
  if (choices.length > 1) return `expected one of ${choices.join(", ")}`
  return expected.replace(/^Schema validation failed: /, "").replace(/^Expected:? /, "expected ")
}

const sentenceOf = (error: CliError.NonShowHelpErrors): string => {
  switch (error._tag) {
    case "UnrecognizedOption":
      return `unknown option ${error.option}${meant(error.suggestions)}`
    case "UnknownSubcommand":
      return `Unknown subcommand "${error.subcommand}"${meant(error.suggestions)}`
    case "InvalidValue": {
      const choices = choicesIn(error.expected)
      const where = error.kind === "flag" ? `--${error.option}` : `<${error.option}>`
      if (error.value === "") return `${where} needs a value: ${expectedOf(error.expected)}`
      const near = nearest(error.value, choices)
      const remedy = near === null ? expectedOf(error.expected) : `did you mean ${near}?`
      return `${where} cannot be ${JSON.stringify(error.value)}: ${remedy}`
    }
    default:
      return error.message
  }
}

export const layer = CliOutput.layerPresenter({
  present: (event) => {
    const [first] = event._tag === "InvalidInvocation" ? event.errors : []
    if (event._tag !== "InvalidInvocation" || first === undefined) return CliOutput.defaultPresenter.present(event)
    const line = sentenceOf(first).replace(/\s*\n\s*/g, " ")
    return Console.error(`signalbox: ${line}; see \`${event.commandPath.join(" ")} --help\``)
  }
})
