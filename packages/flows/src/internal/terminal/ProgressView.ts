/**
 * The text of events on a terminal, as pure functions of events and the time.
 */
import type { FlowEvent } from "../../FlowEvents.ts"

/** `live`: one line that is rewritten; else plain lines. `columns` is read at every drawing. */
export interface Options {
  readonly live: boolean
  readonly columns: () => number
}

export interface ProgressView {
  /** Returns the text for an event. */
  readonly onEvent: (event: FlowEvent) => string
  /** Returns the text for a tick of the clock. */
  readonly onTick: (now: number) => string
  /** Returns the text for the end. */
  readonly onClose: () => string
}

interface Shown {
  readonly path: string
  readonly startedAt: number
  readonly progress: { readonly done: number; readonly total: number | null; readonly message: string | null } | null
  /** The last plain line without its time, and when it was written. */
  readonly line: string
  readonly lineAt: number
}

const barWidth = 20
const plainPauseMillis = 1_000
const spinner = ["|", "/", "-", "\\"]
const spinnerMillis = 120
/** The shortest pause between drawings of the live line; the tick draws skipped changes. */
const livePauseMillis = 50

/** Removes control characters, which would move the cursor or break the line. */
const printable = (text: string) => text.replace(/\p{Cc}+/gu, " ").trim()

/** Formats a duration, such as `0.4s`, `12.3s`, `2m 05s`, `1h 02m`. */
export const elapsed = (millis: number): string => {
  const tenths = Math.floor(Math.max(0, millis) / 100)
  if (tenths < 600) return `${(tenths / 10).toFixed(1)}s`
  const seconds = Math.floor(tenths / 10)
  const two = (value: number) => String(value).padStart(2, "0")
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor(seconds / 60) % 60)}m`
}

/** Draws a bar, such as `[#####-----]`. */
export const bar = (done: number, total: number, width = barWidth): string => {
  const share = total <= 0 ? 1 : Math.min(1, Math.max(0, done / total))
  const filled = Math.floor(share * width)
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}]`
}

const progressText = (progress: Shown["progress"]): string => {
  if (progress === null) return ""
  const { done, total } = progress
  const count = total !== null ? `${bar(done, total)} ${done}/${total}` : done > 0 ? `${done}` : ""
  const message = progress.message === null ? "" : printable(progress.message)
  return [count, message].filter((part) => part !== "").join(" ")
}

const joined = (...parts: ReadonlyArray<string>) => parts.filter((part) => part !== "").join("  ")

const clear = "\r\u001b[2K"

export const make = (options: Options): ProgressView => {
  /** Running steps by execution and path; the one that changed last is the last. */
  const running = new Map<string, Shown>()
  const flows = new Map<string, number>()
  let drawn = false
  let drawnAt = 0

  const keyOf = (event: { readonly executionId: string; readonly path: string }) => `${event.executionId} ${event.path}`

  const touch = (key: string, shown: Shown) => {
    running.delete(key)
    running.set(key, shown)
  }

  const liveLine = (now: number): string => {
    const current = [...running.values()].at(-1)
    const before = drawn ? clear : ""
    drawn = current !== undefined
    drawnAt = now
    if (current === undefined) return before
    const frame = spinner[Math.floor(now / spinnerMillis) % spinner.length] ?? ""
    const others = running.size > 1 ? `+${running.size - 1} running` : ""
    const time = joined(elapsed(now - current.startedAt), others)
    const text = joined(`${frame} ${printable(current.path)}`, progressText(current.progress))
    // One column stays free: a full line makes some terminals wrap. The time must stay readable.
    const room = Math.max(0, options.columns() - 1 - time.length - 2)
    const shortened = text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1))}…`
    return `${before}${joined(shortened, time)}`
  }

  /** Writes a permanent line. On a live terminal it replaces the live line, which is drawn again below it. */
  const lasting = (text: string, now: number): string => {
    if (!options.live) return `${text}\n`
    const before = drawn ? clear : ""
    drawn = false
    return `${before}${text}\n${liveLine(now)}`
  }

  const plainProgress = (key: string, shown: Shown, now: number): string => {
    const line = joined(`  ${printable(shown.path)}`, progressText(shown.progress))
    if (line === shown.line || now - shown.lineAt < plainPauseMillis) return ""
    running.set(key, { ...shown, line, lineAt: now })
    return `${joined(line, elapsed(now - shown.startedAt))}\n`
  }

  const onEvent = (event: FlowEvent): string => {
    const now = event.at
    switch (event._tag) {
      case "FlowStarted":
        flows.set(event.executionId, now)
        return lasting(`> ${printable(event.flow)}`, now)
      case "FlowCompleted":
      case "FlowFailed": {
        const time = elapsed(now - (flows.get(event.executionId) ?? now))
        flows.delete(event.executionId)
        const name = printable(event.flow)
        return event._tag === "FlowCompleted"
          ? lasting(joined(`✓ ${name}`, time), now)
          : lasting(joined(`✗ ${name}`, time, printable(event.failure.message)), now)
      }
      case "StepStarted": {
        const key = keyOf(event)
        const before = running.get(key)
        const line = `  ${printable(event.path)}`
        touch(key, { path: event.path, startedAt: before?.startedAt ?? now, progress: null, line, lineAt: now })
        if (options.live) return liveLine(now)
        return before === undefined ? `${line}\n` : ""
      }
      case "StepProgress": {
        const key = keyOf(event)
        const before = running.get(key)
        if (before === undefined) return ""
        const shown = { ...before, progress: { done: event.done, total: event.total, message: event.message } }
        touch(key, shown)
        if (options.live) return now - drawnAt < livePauseMillis ? "" : liveLine(now)
        return plainProgress(key, shown, now)
      }
      case "StepRetrying": {
        const text = `attempt ${event.attempt} failed, next in ${elapsed(event.delayMillis)}`
        return lasting(joined(`! ${printable(event.path)}`, `${text}: ${printable(event.failure.message)}`), now)
      }
      case "StepSucceeded":
      case "StepFailed": {
        const key = keyOf(event)
        const shown = running.get(key)
        running.delete(key)
        const path = printable(event.path)
        const time = elapsed(now - (shown?.startedAt ?? now))
        const progress = progressText(shown?.progress ?? null)
        return event._tag === "StepSucceeded"
          ? lasting(joined(`✓ ${path}`, progress, time), now)
          : lasting(joined(`✗ ${path}`, progress, time, printable(event.failure.message)), now)
      }
    }
  }

  const onTick = (now: number): string => {
    if (options.live) return running.size === 0 ? "" : liveLine(now)
    return [...running].map(([key, shown]) => plainProgress(key, shown, now)).join("")
  }

  const onClose = () => {
    const text = drawn ? clear : ""
    drawn = false
    return text
  }

  return { onEvent, onTick, onClose }
}
