/**
 * The steps of an image in a plain folder, where no engine is: its `npm install`, a start as a user without rights with its
 * environment, its health check, and the end by SIGTERM within the time that compose.yaml gives it. As root, where mounts are
 * allowed, its root is one that it cannot write, as compose.yaml and the chart start it.
 */
import { execFile, spawn } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { cannotConfine, confined, inside } from "../deploy/src/Confined.ts"

const run = promisify(execFile)

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const matched = (text: string, pattern: RegExp): string => {
  const [, found] = pattern.exec(text) ?? []
  if (found === undefined) throw new Error(`the Dockerfile has nothing like ${String(pattern)}`)
  return found
}

/** Follows the Dockerfile of a room; the packages are those given in place of the published one. */
export const start = async (
  dockerfile: string,
  folder: string,
  packages: ReadonlyArray<string>,
  environment: NodeJS.ProcessEnv
) => {
  const text = readFileSync(dockerfile, "utf8").replaceAll("\\\n", " ")
  const installed = matched(text, /^RUN npm install --prefix (\S+)/m)
  const user = Number(matched(text, /^USER (\d+)$/m))
  const variables = Object.fromEntries(
    matched(text, /^ENV (SIGNALBOX_.*)$/m)
      .split(" ")
      .map((assignment) => assignment.split("=", 2))
  )
  const check: ReadonlyArray<string> = JSON.parse(matched(text, /^HEALTHCHECK .* CMD (\[.*\])$/m))
  const entry: ReadonlyArray<string> = JSON.parse(matched(text, /^ENTRYPOINT (\[.*\])$/m))
  const command: ReadonlyArray<string> = JSON.parse(matched(text, /^CMD (\[.*\])$/m))

  const place = join(folder, "image")
  const data = join(place, "data")
  mkdirSync(place)
  chmodSync(folder, 0o755)
  mkdirSync(data, { mode: 0o700 })
  const npm = [
    "install",
    "--prefix",
    join(place, installed),
    "--omit=dev",
    "--no-audit",
    "--no-fund",
    "--prefer-offline"
  ]
  await run("npm", [...npm, ...packages], { env: environment })

  const [, init, program = "", ...more] = ["", ...entry.slice(entry.indexOf("--")), ...command]
  if (init !== "--") throw new Error(`the ENTRYPOINT ${entry.join(" ")} has no init`)
  const port = String(await freePort())
  const reason = cannotConfine()
  if (reason !== false) console.log(`  ${reason}`)
  const isConfined = reason === false
  // Node may be where this user may not look.
  const sources = { node: dirname(process.execPath), installed: join(place, installed) }
  const [modules, node, home] = isConfined
    ? [`${inside}/installed`, `${inside}/node`, `${inside}/data`]
    : [sources.installed, sources.node, data]
  const env = {
    ...variables,
    PATH: [join(modules, "node_modules", ".bin"), node, environment["PATH"]].join(":"),
    HOME: home,
    SIGNALBOX_DATA: home,
    SIGNALBOX_PORT: port
  }
  const how = isConfined ? confined(place, user, sources, [program, ...more]) : { program, args: more, env: {} }
  // Only root can start it as another user; anybody else is a user without rights already.
  const isOther = !isConfined && process.getuid?.() === 0
  if (isOther) chownSync(data, user, user)
  const child = spawn(how.program, how.args, {
    ...(isOther ? { uid: user, gid: user } : {}),
    cwd: data,
    env: { ...env, ...how.env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)))
  const ended = new Promise<number | null>((resolve) => {
    child.once("exit", resolve)
    child.once("error", (error) => resolve(((said += String(error)), null)))
  })
  const ready = new Promise<string>((resolve) =>
    child.stdout.on("data", () => (said.includes("The control room is at") ? resolve("ready") : undefined))
  )
  try {
    const first = await Promise.race([ready, ended])
    if (first !== "ready") throw new Error(`it ended with ${String(first)}: ${said}`)
    const [file = "", ...args] = check
    const health = () =>
      run(
        file,
        args.map((arg) => arg.replace("4700", port)),
        { env: { PATH: sources.node } }
      )
    await health()
    // As compose.yaml says, after which an engine would kill it.
    const grace = setTimeout(() => child.kill("SIGKILL"), 30_000)
    child.kill("SIGTERM")
    const code = await ended
    clearTimeout(grace)
    if (code !== 0) throw new Error(`it ended with ${String(code)} after SIGTERM: ${said}`)
    const isUp = await health().then(
      () => true,
      () => false
    )
    if (isUp) throw new Error("the health check succeeds where no room is")
  } finally {
    child.kill("SIGKILL")
  }
}
