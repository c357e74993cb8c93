/** The reference of the commands, from the commands. */
import * as Console from "effect/Console"
import * as CliOutput from "effect/cli/CliOutput"
import type { FlagDoc, HelpDoc } from "effect/cli/HelpDoc"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Program from "../../../packages/signalbox/src/internal/main/Program.ts"
import { page } from "../markdown.ts"

/** Asks a command for its help, as data. */
const helpOf = async (path: ReadonlyArray<string>): Promise<HelpDoc> => {
  const found: Array<HelpDoc> = []
  const formatter = CliOutput.defaultFormatter()
  const capturing: CliOutput.Formatter = {
    ...formatter,
    formatHelpDoc: (doc) => {
      found.push(doc)
      return ""
    }
  }
  const silent: Console.Console = { ...globalThis.console, log: () => {} }
  await Effect.runPromise(
    Program.run([...path, "--help"]).pipe(
      Effect.provide(Layer.merge(CliOutput.layer(capturing), Layer.succeed(Console.Console, silent)))
    )
  )
  const [doc] = found
  if (doc === undefined) throw new Error(`signalbox ${path.join(" ")} --help printed nothing`)
  return doc
}

const cell = (text: string) => text.replaceAll("|", "\\|").replace(/\s+/g, " ")

const flagRow = ({ aliases, description, name, type }: FlagDoc) => {
  const value = type === "boolean" ? "" : ` ${type.toUpperCase()}`
  const names = [`--${name}`, ...aliases].map((name) => `\`${cell(name + value)}\``).join(", ")
  return `| ${names} | ${cell(Option.getOrElse(description, () => ""))} |`
}

const sectionOf = (path: ReadonlyArray<string>, { args = [], description, examples = [], flags, usage }: HelpDoc) => [
  `## signalbox ${path.join(" ")}`,
  "",
  description,
  "",
  "```text",
  usage,
  "```",
  "",
  ...(args.length === 0
    ? []
    : [
        "| argument | meaning |",
        "| --- | --- |",
        ...args.map(({ description, name }) => `| \`${name}\` | ${cell(Option.getOrElse(description, () => ""))} |`),
        ""
      ]),
  ...(flags.length === 0 ? [] : ["| option | meaning |", "| --- | --- |", ...flags.map(flagRow), ""]),
  ...(examples.length === 0
    ? []
    : [
        "```sh",
        ...examples.flatMap(({ command, description }) => [...(description ? [`# ${description}`] : []), command]),
        "```",
        ""
      ])
]

const namesIn = ({ subcommands = [] }: HelpDoc) =>
  subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))

const sections = async (path: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const doc = await helpOf(path)
  const below: Array<string> = []
  for (const name of namesIn(doc)) below.push(...(await sections([...path, name])))
  return [...sectionOf(path, doc), ...below]
}

/** A page for each command, with its subcommands, by name; and one that lists them. */
export const commands = async (): Promise<ReadonlyMap<string, string>> => {
  const root = await helpOf([])
  const pages = new Map<string, string>()
  for (const { commands } of root.subcommands ?? []) {
    for (const { description, name } of commands) {
      const [, ...lines] = await sections([name])
      pages.set(name, page(`signalbox ${name}`, lines.join("\n"), { description }))
    }
  }
  const index = [
    "What `signalbox COMMAND --help` prints; [settings and exit codes](/packages/signalbox/#settings) stand elsewhere.",
    "",
    ...(root.subcommands ?? []).flatMap(({ commands, group = "Commands" }) => [
      `## ${group}`,
      "",
      "| command | what it does |",
      "| --- | --- |",
      ...commands.map(
        ({ description, name }) => `| [\`${name}\`](/reference/commands/${name}/) | ${cell(description)} |`
      ),
      ""
    ]),
    "## Options of every command",
    "",
    "| option | meaning |",
    "| --- | --- |",
    ...(root.globalFlags ?? []).map(flagRow)
  ]
  return pages.set(
    "index",
    page("Commands", index.join("\n"), { description: "Every command of signalbox with its options and examples." })
  )
}
