/**
 * Ends a command, like SIGTERM, when its terminal is closed or its package runner (npx, npm, pnpm, yarn) has ended: so
 * that no service or robot keeps running unnoticed.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"

/** Variables that package runners set for their child processes. */
const runnerVariable = /(^|\0)npm_(lifecycle_event|execpath|command)=./

/** Twice, since nobody watches a worker finish its step runs. */
const asSigterm = Effect.sync(() => {
  process.emit("SIGTERM", "SIGTERM")
  process.emit("SIGTERM", "SIGTERM")
})

/** A process and its parent; broken when the process has another parent, because that one has ended. */
export interface Link {
  readonly pid: number
  readonly parent: number
}

/** Parent and session of a process; none if it has ended, or without /proc. */
const standing = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  const stat = yield* Effect.option(fs.readFileString(`/proc/${pid}/stat`))
  return Option.map(stat, (text) => {
    // After the second field, in parentheses, which may contain anything: state, parent, group, session.
    const [, parent, , session] = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return { parent: Number(parent), session: Number(session) }
  })
})

const startedByRunner = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  return runnerVariable.test(yield* Effect.orElseSucceed(fs.readFileString(`/proc/${pid}/environ`), () => ""))
})

/**
 * The links from this process up to the outermost package runner. Empty when no runner started it, and when it was
 * detached from that runner: it leads a separate session (setsid, a service manager), or the runner has ended already.
 */
export const linksToRunner: Effect.Effect<ReadonlyArray<Link>, never, FileSystem.FileSystem> = Effect.gen(function* () {
  const links: Array<Link> = []
  const own = yield* standing(process.pid)
  if (Option.isNone(own)) {
    const started = Object.entries(process.env).some(([name, value]) => runnerVariable.test(`${name}=${value}`))
    return started && process.ppid > 1 ? [{ pid: process.pid, parent: process.ppid }] : []
  }
  let pid = process.pid
  while (yield* startedByRunner(pid)) {
    const at = yield* standing(pid)
    if (Option.isNone(at) || at.value.parent <= 1 || at.value.session !== own.value.session) return []
    links.push({ pid, parent: at.value.parent })
    pid = at.value.parent
  }
  const runner = yield* standing(pid)
  return Option.isSome(runner) && runner.value.session === own.value.session ? links : []
})

const isWhole = ({ parent, pid }: Link) =>
  pid === process.pid
    ? Effect.sync(() => process.ppid === parent)
    : Effect.map(standing(pid), (found) => Option.isSome(found) && found.value.parent === parent)

const watch = Effect.fnUntraced(function* (links: ReadonlyArray<Link>) {
  if (links.length === 0) return
  yield* Effect.repeat(Effect.forEach(links, isWhole), {
    schedule: Schedule.spaced("1 second"),
    while: (whole) => whole.every(Boolean)
  })
  yield* Effect.logInfo("the package runner that started this process has ended: stopping")
  yield* asSigterm
})

const onHangUp = Effect.acquireRelease(
  Effect.sync(() => {
    const listener = () => Effect.runSync(asSigterm)
    process.once("SIGHUP", listener)
    return listener
  }),
  (listener) => Effect.sync(() => process.removeListener("SIGHUP", listener))
)

/** Detects both ends while the scope is open, the second one within a second. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* onHangUp
    // First, so that a runner that is killed while the command starts is known by then.
    yield* Effect.forkScoped(watch(yield* linksToRunner))
  })
)
