/**
 * The examples in the help of a command, which are its page of the reference, as a page to follow: what they expect is made first, and
 * a command that creates something comes before the others. Its subcommands follow in the order of the help.
 */
interface Reference {
  /** A page with the files and commands that are there before the examples. */
  readonly before: string
  /** What a reader puts in place of ids and names. */
  readonly names?: Readonly<Record<string, string>>
}

const room = `
$ npx signalbox up --json > room.json &
$ until [ -s room.json ]; do sleep 0.2; done
`

/** In a fence, as pages have them. */
const file = (title: string, body: string) => `\`\`\` title="${title}"\n${body.trim()}\n\`\`\`\n`
const commands = (body: string) => `\`\`\`console\n${body.trim()}\n\`\`\`\n`

const workspace = `
processes:
  orders: { steps: [{ name: enter, task: { name: enter } }] }
schedules:
  nightly: { process: orders, cron: 30 2 * * mon-fri }
`

const workspaceModule = `
import * as Process from "@signalbox/api/Process"
import * as Schema from "effect/Schema"

const Order = Schema.Struct({ order: Schema.Finite })
const post = Process.packageTask({ package: "erp", task: "Post", input: Order, output: Schema.Null })
export const deploys = Process.make("deploys", { steps: [post] })
export const packages = { erp: { folder: "erp" } }
`

export const references: Readonly<Record<string, Reference>> = {
  apply: {
    before: [
      file("workspace.yaml", workspace),
      file("workspace.ts", workspaceModule),
      file("erp/robot.yaml", "tasks:\n  Post:\n    shell: python robot.py"),
      commands(`${room}$ npx signalbox apply workspace.ts > applied.txt`)
    ].join("\n")
  },
  keys: { before: commands(room), names: { NAME: "ci" } },
  schedules: {
    before: commands(`${room}
$ npx signalbox processes create orders --task enter > orders.txt
$ npx signalbox schedules create monthly orders --cron '0 6 1 * *' > monthly.txt
`),
    names: { "delete NAME OTHER": "delete hourly monthly", NAME: "nightly" }
  }
}

const subcommandsIn = (help: string) =>
  [...(help.split("SUBCOMMANDS\n")[1] ?? "").matchAll(/^ {2}(\S+) {2,}\S/gm)].map(([, name = ""]) => name)

const examplesIn = (help: string) =>
  [...(help.split("EXAMPLES\n")[1] ?? "").matchAll(/^ {2}(?!#)(\S.*)$/gm)].map(([, example = ""]) => example)

/** The page of a command: `helpOf` returns what the command prints as its help. */
export const pageOf = async (command: string, helpOf: (...path: ReadonlyArray<string>) => Promise<string>) => {
  const { before, names = {} } = references[command] ?? { before: "" }
  const below = subcommandsIn(await helpOf(command))
  const creating = below.filter((name) => name === "create")
  const others = below.filter((name) => name !== "create")
  const helps = below.length === 0 ? [[]] : [...creating, ...others].map((name) => [name])
  const examples = (await Promise.all(helps.map((path) => helpOf(command, ...path)))).flatMap(examplesIn)
  if (examples.length === 0) throw new Error(`the help of signalbox ${command} has no examples`)
  const meant = (example: string) =>
    Object.entries(names).reduce((text, [name, value]) => text.replaceAll(name, value), example)
  return [before, commands(examples.map((example) => `$ ${meant(example)}\n...`).join("\n"))].join("\n")
}
