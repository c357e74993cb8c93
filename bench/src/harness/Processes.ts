/**
 * The processes of a suite: programs that answer tasks, started when they are first asked, and ended with the suite.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { platform } from "node:os"
import { join } from "node:path"
import type { Message } from "./Program.ts"

export interface Running<Ready> {
  readonly pid: number
  readonly ready: Ready
  readonly ask: <Answer>(task: unknown) => Promise<Answer>
}

/** A program that runs once it is asked for. When its start failed, it is not tried again. */
export interface Program<Ready> {
  readonly running: () => Promise<Running<Ready>>
  readonly ask: <Answer>(task: unknown) => Promise<Answer>
  readonly end: () => Promise<void>
}

/** Milliseconds after which a program that does not answer counts as failed. */
const patience = 150_000

const within = <A>(what: string, answer: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not answer within ${patience / 1000} s`)), patience)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

const start = async <Ready>(name: string, child: ChildProcess): Promise<Running<Ready>> => {
  const gone = once(child, "exit").then(([code, signal]) =>
    Promise.reject(new Error(`${name} ended with ${code ?? signal}`))
  )
  gone.catch(() => {})
  const next = async (): Promise<Message> => {
    const [message] = await within(name, Promise.race([once(child, "message"), gone]))
    return message
  }
  const first = await next()
  if (!("ready" in first)) throw new Error("failed" in first ? first.failed : `${name} did not say that it is ready`)
  return {
    pid: child.pid ?? 0,
    ready: first.ready as Ready,
    ask: async <Answer>(task: unknown) => {
      const answer = next()
      child.send(task as object)
      const message = await answer
      if ("answer" in message) return message.answer as Answer
      throw new Error("failed" in message ? message.failed : `${name} started again`)
    }
  }
}

const ended = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  if (child.connected) child.disconnect()
  const timer = setTimeout(() => child.kill("SIGKILL"), 8000)
  await exit
  clearTimeout(timer)
}

const programs = join(import.meta.dirname, "../programs")

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly execArgv?: ReadonlyArray<string>
}

/** Programs, and what ends all of them. */
export const make = () => {
  const children = new Set<ChildProcess>()
  const program = <Ready = null>(
    script: string,
    args: ReadonlyArray<string> = [],
    { env = {}, execArgv = [] }: ProgramOptions = {}
  ): Program<Ready> => {
    let started: Promise<Running<Ready>> | undefined
    let child: ChildProcess | undefined
    const running = () => {
      if (started !== undefined) return started
      child = fork(join(programs, script), [...args], {
        // Peers log; what fails is told by message, or on standard error.
        stdio: ["ignore", "ignore", "inherit", "ipc"],
        execArgv: ["--no-deprecation", "--disable-warning=ExperimentalWarning", ...execArgv],
        env: { ...process.env, ...env }
      })
      children.add(child)
      started = start<Ready>([script, ...args].join(" ").slice(0, 80), child)
      return started
    }
    return {
      running,
      ask: async <Answer>(task: unknown) => (await running()).ask<Answer>(task),
      end: async () => {
        if (child === undefined) return
        await ended(child)
        children.delete(child)
      }
    }
  }
  return { program, close: () => Promise.all([...children].map(ended)) }
}

/** Milliseconds that the processor has worked for a process so far, in steps of ten. Undefined where the system does not say it. */
export const cpuMillis = (pid: number): number | undefined => {
  if (platform() !== "linux") return undefined
  const text = readFileSync(`/proc/${pid}/stat`, "utf8")
  // The name may have spaces.
  const [user, system] = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number)
  return ((user ?? 0) + (system ?? 0)) * 10
}
