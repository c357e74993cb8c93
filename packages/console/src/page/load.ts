/** Loading of what a screen shows, again when it changes. */
import type { ChangeTopic } from "@signalbox/api/contract/Changes"
import { useEffect, useRef, useState } from "preact/hooks"
import { addressOf, type Query, send } from "./api.ts"
import { type Hint, onHint } from "./live.ts"
import { noteEnd, session } from "./state.ts"

export interface Loaded<A> {
  /** Undefined until the first response. */
  readonly data: A | undefined
  /** Why the newest request failed; what was there before is still shown. */
  readonly error: string | null
  /** Loads it again immediately. */
  readonly reload: () => void
}

/** Milliseconds between two loads of the same address, however often it changes. */
const rest = 1000
/** Milliseconds after which it is loaded without a hint: what time alone changes, such as a worker that is not heard of. */
const interval = 30_000
/** No hint tells of the steps that another program runs on the same storage. */
const intervalsOf: Readonly<Record<string, number>> = { "flow-executions": 10_000 }

/** What concerns a resource, by the first segment of its path. All other paths concern every change. */
const topicsOf: Readonly<Record<string, ReadonlyArray<ChangeTopic>>> = {
  "alert-channels": ["alerts"],
  "alert-firings": ["alerts"],
  alerts: ["alerts"],
  "api-keys": ["keys"],
  assets: ["assets"],
  audit: [
    "alerts",
    "failures",
    "keys",
    "packages",
    "processes",
    "schedules",
    "secrets",
    "triggers",
    "webhooks",
    "workers"
  ],
  "assistant-runs": ["assistants"],
  assistants: ["assistants"],
  "bulk-operations": ["bulk_operations"],
  failures: ["failures", "items"],
  "flow-executions": ["flows"],
  outputs: ["runs"],
  processes: ["processes", "runs", "schedules", "triggers"],
  "process-runs": ["runs"],
  schedules: ["schedules"],
  secrets: ["secrets"],
  "step-runs": ["step_runs"],
  "task-packages": ["packages"],
  throughput: ["items"],
  triggers: ["triggers"],
  users: ["users"],
  webhooks: ["webhooks"],
  "work-items": ["items"],
  "worker-groups": ["workers"],
  workers: ["workers", "step_runs"]
}

/** Topics whose hints have the id of the run, or of the execution. */
const ofRuns: ReadonlyArray<string> = ["runs", "step_runs", "items", "flows"]

const firstOf = (path: string) => path.split(/[/?]/, 1)[0] ?? ""

/** Whether a hint is about what a path shows. `run`: the only run, or execution, that it shows something of. */
const concerns = (path: string, run: string | undefined) => {
  const topics: ReadonlyArray<string> | undefined = topicsOf[firstOf(path)]
  return (hint: Hint | null): boolean => {
    if (hint === null || topics === undefined) return true
    if (!topics.includes(hint.topic)) return false
    return run === undefined || hint.id === null || !ofRuns.includes(hint.topic) || hint.id === run
  }
}

const runOf = (path: string, query: Query) =>
  /^(?:process-runs|flow-executions)\/([^/]+)/.exec(path)?.[1] ?? query["process_run_id"]

/** Loads a resource of the workspace, and again when it changes while the page is visible. Null: nothing is loaded. */
export const useResource = <A>(path: string | null, query: Query = {}): Loaded<A> => {
  const current = session.value
  const address = current == null || path === null ? null : addressOf(current, path, query)
  const [state, setState] = useState<{ readonly of: string | null; readonly data?: A; readonly error: string | null }>({
    of: null,
    error: null
  })
  const again = useRef(() => {})
  useEffect(() => {
    if (address === null || path === null) return
    const ended = new AbortController()
    let timer = 0
    let loadedAt = -Infinity
    let isLoading = false
    let isStale = false
    const load = async () => {
      clearTimeout(timer)
      if (isLoading) {
        isStale = true
        return
      }
      isLoading = true
      isStale = false
      loadedAt = performance.now()
      const { value: sentIn } = session
      try {
        // The contract says what this address returns; the caller names it.
        const data = (await send("GET", address, undefined, ended.signal)) as A
        if (!ended.signal.aborted) setState({ of: address, data, error: null })
      } catch (error) {
        if (ended.signal.aborted) return
        noteEnd(error, sentIn)
        const message = error instanceof Error ? error.message : String(error)
        setState((before) => (before.of === address ? { ...before, error: message } : { of: address, error: message }))
      }
      isLoading = false
      if (!ended.signal.aborted) plan(isStale ? rest : (intervalsOf[firstOf(path)] ?? interval))
    }
    const plan = (wait: number) => {
      clearTimeout(timer)
      if (document.visibilityState === "visible") timer = window.setTimeout(load, wait)
    }
    const wake = () => {
      if (document.visibilityState === "visible") void load()
    }
    const run = runOf(path, query)
    const isAbout = concerns(path, run === undefined ? undefined : String(run))
    const forget = onHint((hint) => {
      if (!isAbout(hint)) return
      if (isLoading) isStale = true
      else plan(Math.max(0, loadedAt + rest - performance.now()))
    })
    again.current = () => void load()
    document.addEventListener("visibilitychange", wake)
    void load()
    return () => {
      forget()
      ended.abort()
      clearTimeout(timer)
      document.removeEventListener("visibilitychange", wake)
    }
  }, [address])
  const isCurrent = state.of === address
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : null,
    reload: () => again.current()
  }
}
