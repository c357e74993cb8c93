/** What each form of `signalbox init` makes: installed as its `package.json` says, its README followed word for word, and used further. */
import { spawn } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as backend from "./backend.ts"
import { type Consumer, expected } from "./consumer.ts"
import { followText, type Manager, managers, type Pages } from "./following.ts"
import { fences, withoutFences } from "./pages.ts"

interface Form {
  readonly flags: ReadonlyArray<string>
  /** What its user does after the README, in the layout that is the stricter one. */
  readonly further?: (project: string, consumer: Consumer) => Promise<unknown>
}

/** Waits for a line of output that contains a text. */
const line = (stream: NodeJS.ReadableStream, text: string, ended: Promise<unknown>) =>
  Promise.race([
    new Promise<string>((resolve) =>
      createInterface(stream).on("line", (said) => (said.includes(text) ? resolve(said) : undefined))
    ),
    ended.then((code) => Promise.reject(new Error(`it ended with ${String(code)} and never said ${text}`)))
  ])

const commandOf = (project: string) => join(project, "node_modules/signalbox/dist/bin.js")

/** A control room that loads changed tasks, the flow, and what is there then. */
const developed = async (project: string, { environment, sh }: Consumer) => {
  const command = commandOf(project)
  const child = spawn(process.execPath, [command, "dev", "--json", "--port=0"], {
    cwd: project,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  try {
    await Promise.all([line(child.stdout, "base_url", exited), line(child.stderr, "Loaded tasks.ts: greet", exited)])
    const flow = (name: string) => sh("npm", ["run", "flow", name], {}, project)
    const first = await flow("Ada")
    if (!first.includes("Hello, Ada")) throw new Error(`the flow prints ${first}`)
    const tasks = join(project, "tasks.ts")
    const again = line(child.stderr, "Loaded tasks.ts: greet", exited)
    writeFileSync(tasks, readFileSync(tasks, "utf8").replace("Hello, ", "Good day, "))
    await again
    const second = await flow("Grace")
    if (!second.includes("Good day, Grace")) throw new Error(`after a change of its task the flow prints ${second}`)
    const nouns = ["processes", "workers", "runs"].map(async (noun) => {
      const printed = await sh(process.execPath, [command, noun, "list", "--json"], {}, project)
      const rows = printed
        .trim()
        .split("\n")
        .map((row) => JSON.parse(row))
      expected(`the number of ${noun}`, rows.length, noun === "runs" ? 2 : 1)
      expected(`the id of one of the ${noun}`, typeof rows[0].id, "string")
    })
    await Promise.all(nouns)
  } finally {
    child.kill("SIGTERM")
  }
  expected("the exit code of `dev` after SIGTERM", await exited, 0)
}

/** Requests to a backend that is killed in the middle. */
const killed = (project: string, { environment, sh }: Consumer) =>
  backend.walk(project, {
    command: commandOf(project),
    env: environment,
    sh: (file, args, env) => sh(file, args, env, project)
  })

const forms: Readonly<Record<string, Form>> = {
  greetings: { flags: [], further: developed },
  letters: { flags: ["--python"] },
  "on-fastify": { flags: ["--durable"], further: killed },
  "on-express": { flags: ["--durable", "--server", "express"], further: killed },
  "on-hono": { flags: ["--durable", "--server", "hono"], further: killed }
}

/** Commands that run in a terminal of their own until they are stopped. */
const running = ["npm run dev", "npm start"]

/** What commands of a README show in the end. */
const shown: Readonly<Record<string, string>> = {
  "npm run flow Ada": "Hello, Ada",
  "curl http://127.0.0.1:4800/welcomes/ada": "Hello, Ada"
}

/** A line of a README as one of a page: what it prints is not compared, and what goes on running does so in the background. */
const lineOfPage = (command: string, index: number): ReadonlyArray<string> => {
  const text = shown[command]
  if (running.includes(command)) {
    const log = `terminal-${index}.log`
    return [`$ ${command} > ${log} &`, `$ until grep --quiet http: ${log}; do sleep 0.2; done`]
  }
  if (text === undefined) return [`$ ${command}`, "..."]
  return [`$ until ${command} > shown.txt && grep --quiet '${text}' shown.txt; do sleep 0.2; done`]
}

/** The commands of a README: those of its fences, and those in sentences. */
const commandsOf = (readme: string) => [
  ...fences(readme).flatMap(({ body }) => body.trim().split("\n")),
  ...[...withoutFences(readme).matchAll(/`(npm [^`]+)`/g)].map(([, command = ""]) => command)
]

const pageOf = (name: string, { flags }: Form, readme: string, olderCompiler: string) => {
  const lines = commandsOf(readme).map((line) => line.replace(/ {2,}#.*/, ""))
  if (!lines.includes("npm install") || !lines.includes("npm test") || !lines.includes("npm run types")) {
    throw new Error(`the README of ${name} does not install, test or check types: ${lines.join(", ")}`)
  }
  return [
    "```console",
    `$ npx signalbox init ${[name, ...flags].join(" ")}`,
    "...",
    `$ cd ${name}`,
    ...lines.flatMap(lineOfPage),
    `$ ${olderCompiler} -p tsconfig.json`,
    "```"
  ].join("\n")
}

const followForm = async (name: string, form: Form, manager: Manager, of: Pages) => {
  const { binary, folder, sh } = of.consumer
  // To read its README.
  const looked = join(folder, `${name}-${manager}`)
  await sh(process.execPath, [binary, "init", looked, ...form.flags])
  const readme = readFileSync(join(looked, "README.md"), "utf8")
  const page = pageOf(name, form, readme, of.olderCompiler)
  await followText(`init-${name}`, page, manager, of, async (place) => {
    if (form.further === undefined || manager === "npm") return
    const project = join(place, name)
    // The control room and the executions of the README are gone.
    for (const made of [".signalbox", "data"]) rmSync(join(project, made), { recursive: true, force: true })
    await form.further(project, of.consumer)
  })
}

/** A check of each form with each manager. */
export const projectChecks: Readonly<Record<string, (of: Pages) => Promise<unknown>>> = Object.fromEntries(
  Object.entries(forms).flatMap(([name, form]) =>
    managers.map((manager) => [
      `${["signalbox init", ...form.flags].join(" ")}, as its README says, with ${manager}`,
      (of: Pages) => followForm(name, form, manager, of)
    ])
  )
)
