/**
 * The steps of an image in a plain folder, where no engine is: its `npm install`, a start as a user without rights with its
 * environment, its health check, and the end by SIGTERM.
 */
import { execFile, spawn } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"

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
  const others = matched(text, /^RUN npm install .*"\$SIGNALBOX" (.*?) &&/m).replaceAll('"', "")
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
  await run("npm", [...npm, ...packages, ...others.split(" ")], { env: environment })

  // Only root can start it as another user; anybody else is a user without rights already.
  const isRoot = process.getuid?.() === 0
  const as = isRoot ? { uid: user, gid: user } : {}
  if (isRoot) {
    chmodSync(folder, 0o755)
    chownSync(data, user, user)
  }
  const port = String(await freePort())
  const env = {
    ...variables,
    PATH: [join(place, installed, "node_modules", ".bin"), environment["PATH"]].join(":"),
    HOME: data,
    SIGNALBOX_DATA: data,
    SIGNALBOX_PORT: port
  }
  const [, init, program = "", ...more] = ["", ...entry.slice(entry.indexOf("--")), ...command]
  if (init !== "--") throw new Error(`the ENTRYPOINT ${entry.join(" ")} has no init`)
  const child = spawn(program, more, { ...as, cwd: data, env, stdio: ["ignore", "pipe", "pipe"] })
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
        { env }
      )
    await health()
    child.kill("SIGTERM")
    const code = await ended
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
