/**
 * The command as people use it.
 */
import { assert } from "@effect/vitest"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import { layer as connect } from "@signalbox/api/node"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { format } from "node:util"
import * as Program from "../../src/internal/main/Program.ts"

/** The command, bundled as it is published when the tests start. */
export const bin = join(import.meta.dirname, "..", "..", ".bundle-command", "bin.ts")
/** The command as it is not published, for a test of which modules it loads. */
export const unbundled = join(import.meta.dirname, "..", "..", "src", "bin.ts")
/** Preloaded, it reports what is loaded. */
export const loadedFile = join(import.meta.dirname, "loaded.ts")
export const tasksFile = join(import.meta.dirname, "tasks.ts")

export type Env = Readonly<Record<string, string>>

export interface Ready {
  readonly base_url: string
  readonly workspace_id: string
  readonly api_key: string
  readonly docs_url: string
  readonly spec_url: string
}

/** A client of that control room. */
export const clientOf = ({ api_key, base_url, workspace_id }: Pick<Ready, "api_key" | "base_url" | "workspace_id">) =>
  connect({ baseUrl: base_url, workspaceId: WorkspaceId.make(workspace_id), apiKey: Redacted.make(api_key) })

export const temporaryFolder = (name: string) => {
  const folder = mkdtempSync(join(tmpdir(), `signalbox-${name}-`))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The only variables of the machine's environment that tests get. */
export const machine = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"]
}

export const start = (args: ReadonlyArray<string>, env: Env, cwd?: string, program = bin) =>
  spawn(process.execPath, [program, ...args], { cwd, env: { ...machine, ...env } })

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** Of standard output. */
  readonly lines: ReadonlyArray<string>
}

interface CommandOptions {
  readonly env?: Env
  /** In a separate process there, for a command that inspects its folder or ends with it. */
  readonly cwd?: string
}

const inProcessOfItsOwn = (args: ReadonlyArray<string>, { cwd, env = {} }: CommandOptions) =>
  new Promise<Ended>((resolve) => {
    const child = start(args, env, cwd)
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    child.once("close", (status) => resolve({ status, stdout, stderr, lines: stdout.trim().split("\n") }))
  })

/** A command line in this process, and its output so far; `wrote` is called after each line. */
const launch = (args: ReadonlyArray<string>, env: Env, wrote: () => void = () => {}) => {
  const written = { stdout: "", stderr: "" }
  const to =
    (stream: keyof typeof written) =>
    (...values: ReadonlyArray<unknown>) => {
      written[stream] += `${format(...values)}\n`
      wrote()
    }
  const captured: Console.Console = Object.assign(Object.create(console), {
    log: to("stdout"),
    info: to("stdout"),
    error: to("stderr"),
    warn: to("stderr")
  })
  const values = Object.fromEntries(Object.entries({ ...machine, ...env }).filter(([, value]) => value !== undefined))
  const program = Program.run(args).pipe(
    Effect.provideService(Console.Console, captured),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: values as Env })),
    Effect.provideService(Logger.CurrentLoggers, new Set())
  )
  const fiber = Effect.runFork(program)
  const ended = new Promise<number>((resolve) => fiber.addObserver((exit) => Program.teardown(exit, resolve)))
  return { written, ended, interrupt: () => fiber.interruptUnsafe() }
}

const inThisProcess = async (args: ReadonlyArray<string>, env: Env): Promise<Ended> => {
  const { ended, written } = launch(args, env)
  const status = await ended
  return { status, ...written, lines: written.stdout.trim().split("\n") }
}

/** Runs a command to its end; in this process, which saves a second, where that makes no difference. */
export const signalbox = (args: ReadonlyArray<string>, options: CommandOptions = {}): Promise<Ended> =>
  options.cwd === undefined ? inThisProcess(args, options.env ?? {}) : inProcessOfItsOwn(args, options)

/** Like `signalbox`, for a command that must exit with 0. */
export const succeed = async (args: ReadonlyArray<string>, options: CommandOptions = {}) => {
  const ended = await signalbox(args, options)
  assert.strictEqual(ended.status, 0, `${args.join(" ")}: ${ended.stderr}`)
  return ended
}

export interface RoomHere {
  readonly ready: Ready
  readonly stdout: () => string
  readonly stderr: () => string
  /** Ends it with SIGTERM and returns its exit code. */
  readonly end: () => Promise<number | null>
}

interface LoggedRoom extends RoomHere {
  /** Waits until this text is in its log. */
  readonly logged: (text: string) => Promise<void>
}

export interface Room extends RoomHere {
  readonly child: ChildProcess
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>
}

/** On a free port, unless one is given. */
const upArgs = (data: string, args: ReadonlyArray<string>) => {
  const port = args.includes("--port") ? [] : ["--port", "0"]
  return ["up", ...port, "--json", "--data", data, ...args]
}

/** A control room in this process, which saves a second or two where that makes no difference. */
export const upHere = (data: string, args: ReadonlyArray<string> = [], env: Env = {}) =>
  new Promise<LoggedRoom>((resolve, reject) => {
    const waiting = new Set<() => void>()
    const { ended, interrupt, written } = launch(upArgs(data, args), env, () => {
      waiting.forEach((check) => check())
      if (!written.stdout.includes("\n")) return
      const end = () => {
        interrupt()
        return ended
      }
      const logged = (text: string) =>
        new Promise<void>((found) => {
          const check = () => {
            if (!written.stderr.includes(text)) return
            waiting.delete(check)
            found()
          }
          waiting.add(check)
          check()
        })
      const ready = JSON.parse(written.stdout.split("\n")[0] ?? "")
      resolve({ ready, stdout: () => written.stdout, stderr: () => written.stderr, logged, end })
    })
    void ended.then((code) => reject(new Error(`up ended with ${code}: ${written.stderr}`)))
  })

/** A control room in a separate process. */
export const up = (data: string, args: ReadonlyArray<string> = [], env: Env = {}, program = bin) =>
  new Promise<Room>((resolve, reject) => {
    const child = start(upArgs(data, args), env, undefined, program)
    let stdout = ""
    let stderr = ""
    const exited = new Promise<number | null>((done) => child.once("exit", done))
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
      if (!stdout.includes("\n")) return
      const end = (signal: NodeJS.Signals = "SIGTERM") => {
        child.kill(signal)
        return exited
      }
      resolve({
        child,
        ready: JSON.parse(stdout.split("\n")[0] ?? ""),
        stdout: () => stdout,
        stderr: () => stderr,
        end
      })
    })
    child.once("exit", (code) => reject(new Error(`up ended with ${code}: ${stderr}`)))
  })
