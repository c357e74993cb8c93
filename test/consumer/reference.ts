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

const chat = `
import { createServer } from "node:http"

createServer((request, response) => response.end()).listen(4798, "127.0.0.1")
`

const tasks = `
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export const tasks = [Task.make("greet", { input: Schema.Json, output: Schema.Json, run: () => Effect.succeed("Hello") })]
`

/** What tasks in TypeScript import, and what makes a package of them. */
const bundling = "$ npm install @signalbox/worker effect rolldown > installed.txt"

const orders = `$ npx signalbox processes create orders --task enter > orders.txt`

/** A folder of a task package, and a zip of one. */
const robots = [
  file("robots/invoices/robot.yaml", "tasks:\n  Read orders:\n    shell: python read.py"),
  commands("$ cd robots/invoices && python3 -m zipfile -c ../../invoices.zip robot.yaml && cd ../..")
].join("\n")

export const references: Readonly<Record<string, Reference>> = {
  "alert-channels": {
    before: commands(`${room}
$ export SLACK_URL=http://127.0.0.1:4798/ PING_URL=http://127.0.0.1:4798/ SMTP_PASSWORD=correct-horse
$ npx signalbox secrets create smtp --env password=SMTP_PASSWORD > smtp.txt
$ eval "$(npx signalbox env)"
$ permissions="--permission Alerts.read_alerts --permission Alerts.write_alerts --permission Vault.read_secret_values"
$ export SIGNALBOX_API_KEY=$(npx signalbox keys create --name alerts $permissions)
`),
    names: { "delete NAME OTHER": "delete operations alive", NAME: "team" }
  },
  alerts: {
    before: [
      file("chat.mjs", chat),
      commands(`${room}
$ node chat.mjs &
$ export SLACK_URL=http://127.0.0.1:4798/
$ npx signalbox alert-channels create team slack --url-env SLACK_URL > team.txt
${orders}
$ npx signalbox alerts create unresolved run_unresolved --channel team > unresolved.txt
`)
    ].join("\n"),
    names: { "delete NAME OTHER": "delete quiet unresolved", NAME: "failed" }
  },
  apply: {
    before: [
      file("workspace.yaml", workspace),
      file("workspace.ts", workspaceModule),
      file("erp/robot.yaml", "tasks:\n  Post:\n    shell: python robot.py"),
      commands(`$ npm install @signalbox/api effect > installed.txt
${room}$ npx signalbox apply workspace.ts > applied.txt`)
    ].join("\n")
  },
  assets: {
    before: [
      file("prices.csv", "lamp;42"),
      commands(`${room}
$ npx signalbox assets create limits prices.csv > limits.txt
$ npx signalbox assets create rates prices.csv > rates.txt
`)
    ].join("\n"),
    names: { "delete NAME OTHER": "delete limits rates", NAME: "prices" }
  },
  config: { before: "" },
  groups: {
    before: commands(`${room}
$ npx signalbox groups create windows > windows.txt
$ npx signalbox groups create macos > macos.txt
`),
    names: { "delete NAME OTHER": "delete desktops macos", NAME: "linux" }
  },
  keys: {
    before: commands(`${room}
$ npx signalbox users create bob --role builder > bob.txt
`),
    names: { NAME: "ci" }
  },
  package: { before: [file("tasks.ts", tasks), file("src/tasks.ts", tasks), commands(bundling)].join("\n") },
  packages: {
    before: [
      robots,
      file("tasks.ts", tasks),
      commands(`${bundling}
${room}
$ npx signalbox packages create letters robots/invoices > letters.txt
$ npx signalbox packages create mails robots/invoices > mails.txt
`)
    ].join("\n"),
    names: { "promote invoices 7": "promote invoices 2", "delete NAME OTHER": "delete letters mails", NAME: "invoices" }
  },
  processes: {
    before: [
      robots,
      commands(`${room}
$ npx signalbox packages create invoices robots/invoices > invoices.txt
$ npx signalbox processes create letters --task read > letters.txt
`)
    ].join("\n"),
    names: { "orders' 7": "orders' 1", "delete NAME OTHER": "delete orders letters", NAME: "greeting" }
  },
  queue: { before: commands(room) },
  schedules: {
    before: commands(`${room}
$ npx signalbox processes create orders --task enter > orders.txt
$ npx signalbox schedules create monthly orders --cron '0 6 1 * *' > monthly.txt
`),
    names: { "delete NAME OTHER": "delete hourly monthly", NAME: "nightly" }
  },
  secrets: {
    before: commands(`${room}
$ export SHOP_USER=ada SHOP_PASSWORD=correct-horse
$ npx signalbox secrets create mails --env user=SHOP_USER > mails.txt
$ npx signalbox secrets create erp --env user=SHOP_USER > erp.txt
$ printf correct-horse > shop.pem
`),
    // Nobody answers a question here, and there is no other program with secrets.
    names: {
      "delete NAME OTHER": "delete mails erp",
      NAME: "shop",
      "pass show shop": "cat shop.pem",
      "set shop password": "set shop password < shop.pem"
    }
  },
  triggers: {
    before: commands(`${room}
${orders}
$ export HOOK_SECRET=correct-horse-battery
$ npx signalbox triggers create many orders --at-least 50 > many.txt
`),
    names: { "delete NAME OTHER": "delete pushes many", NAME: "batches" }
  },
  roles: { before: commands(room) },
  users: {
    before: commands(`${room}
$ npx signalbox users create zoe --role admin --manages-room > zoe.txt
`),
    names: { NAME: "ada" }
  },
  workspaces: { before: commands(room) }
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
