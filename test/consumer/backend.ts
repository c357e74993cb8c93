/** The backend that `signalbox init --durable` makes, as its user runs it: requests, a kill in the middle, and an orderly end. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"

export interface User {
  readonly env: NodeJS.ProcessEnv
  /** The packed command. */
  readonly command: string
  /** Runs a program to its end in the project, and returns what it printed. */
  readonly sh: (file: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => Promise<string>
}

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("there is no free port")
  return address.port
}

/** Starts a program and waits until it prints something, or listens at a port. */
const started = async (args: ReadonlyArray<string>, cwd: string, env: NodeJS.ProcessEnv) => {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  child.stderr.on("data", (chunk) => (said += String(chunk)))
  const ended = once(child, "exit").then(() => {
    throw new Error(`${args.join(" ")} ended: ${said}`)
  })
  await Promise.race([once(child.stdout, "data"), ended])
  // Its end is what the test brings about from here on.
  ended.catch(() => undefined)
  return child
}

const end = async (child: ChildProcess, signal: "SIGTERM" | "SIGKILL") => {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, "exit")
  child.kill(signal)
  const [code] = await exited
  return code
}

/** A request, and the status and members that its response must have. */
const ask = async (url: string, status: number, members: object, init: RequestInit = {}) => {
  const response = await fetch(url, init)
  const text = await response.text()
  const what = `${init.method ?? "GET"} ${url} responds with ${response.status} ${text}`
  if (response.status !== status) throw new Error(`${what}, expected ${status}`)
  for (const [name, value] of Object.entries(members)) {
    if (!isDeepStrictEqual(JSON.parse(text)[name], value)) throw new Error(`${what}, expected ${name} ${String(value)}`)
  }
}

const post = (body: string): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body
})

/** Asks until there is an outcome; the backend itself waits a while for each response. */
const outcome = async (url: string) => {
  for (;;) {
    const response = await fetch(url)
    if (response.status !== 202) return `${response.status} ${await response.text()}`
  }
}

export const walk = async (project: string, { command, env, sh }: User) => {
  const [port, customers] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const settings = {
    PORT: String(port),
    CUSTOMERS_URL: `http://127.0.0.1:${customers}`,
    SIGNALBOX_FLOWS_URL: `${url}/flows`,
    SIGNALBOX_CALLBACK_URL: `${url}/callbacks`
  }
  const { scripts } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"))
  const script = (name: string) => started(scripts[name].split(" ").slice(1), project, { ...env, ...settings })
  const tasks = join(project, "tasks.ts")
  const slower = readFileSync(tasks, "utf8").replace(
    /Effect\.succeed\((.*)\)$/m,
    'Effect.delay(Effect.succeed($1), "6 seconds")'
  )
  if (!slower.includes("Effect.delay")) throw new Error("tasks.ts has no Effect.succeed that can be slower")
  writeFileSync(tasks, slower)
  const running: Array<ChildProcess> = []
  const keep = (child: ChildProcess) => {
    running.push(child)
    return child
  }
  try {
    const room = keep(await started([command, "dev", "--json", "--port=0"], project, env))
    await sh("npm", ["run", "deploy"], settings)
    keep(await script("customers"))
    const first = keep(await script("start"))

    await ask(`${url}/welcomes`, 400, { code: "InvalidInput", path: "customer" }, post('{"customer":""}'))
    await ask(`${url}/welcomes`, 400, {}, post("{"))
    await ask(`${url}/welcomes`, 422, { code: "CustomerUnknown" }, post('{"customer":"nobody"}'))
    await ask(`${url}/welcomes`, 202, { state: "running" }, post('{"customer":"ada"}'))
    await ask(`${url}/welcomes/grace`, 404, { code: "ExecutionNotFound" })
    await ask(`${url}/flows/flow-executions`, 401, {})
    await ask(`${url}/callbacks`, 401, {}, post("{}"))

    await end(first, "SIGKILL")
    const second = keep(await script("start"))
    await ask(`${url}/welcomes/ada`, 202, { state: "running" })
    const approval = post('{"approved":true,"by":"ann","comment":null}')
    await ask(`${url}/welcomes/ada/approval`, 400, { code: "InvalidSignal" }, post('{"approved":"yes"}'))
    await ask(`${url}/welcomes/ada/approval`, 202, { state: "running" }, approval)
    // The run takes longer than a request waits, so this is in the middle of it.
    await end(second, "SIGKILL")
    const third = keep(await script("start"))
    const ended = await outcome(`${url}/welcomes/ada`)
    if (!ended.startsWith("200") || !ended.includes("Hello, Ada")) throw new Error(`the outcome is ${ended}`)
    const runs = await sh(process.execPath, [command, "runs", "list", "--json"], settings)
    if (runs.trim().split("\n").length !== 1) throw new Error(`expected one run, these are there: ${runs}`)

    // Through the management, whose requests have bodies.
    await ask(`${url}/welcomes`, 202, { state: "running" }, post('{"customer":"grace"}'))
    const flows = (...args: ReadonlyArray<string>) => sh("npm", ["run", "--silent", "flows", "--", ...args], settings)
    const [newest = ""] = (await flows("list", "--json")).split("\n")
    await flows("signal", JSON.parse(newest).id, "approval", "--reject", "--by", "ben")
    const declined = await outcome(`${url}/welcomes/grace`)
    if (!declined.startsWith("422") || !declined.includes("declined by ben")) throw new Error(`it is ${declined}`)

    await end(room, "SIGTERM")
    await ask(`${url}/welcomes`, 503, { code: "ControlRoomError" }, post('{"customer":"grace"}'))
    await ask(`${url}/welcomes/ada`, 200, { greetings: ["Hello, Ada"] })
    const code = await end(third, "SIGTERM")
    if (code !== 0) throw new Error(`the exit code of the backend after SIGTERM is ${String(code)}`)
  } finally {
    for (const child of running) await end(child, "SIGKILL")
  }
}
