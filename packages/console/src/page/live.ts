/**
 * Hints of what changes, for all that is shown. Where the browser can, one tab holds the stream and tells the others; locks
 * and channels exist on https and loopback alone, elsewhere each tab that is looked at has a stream of its own.
 */
import type { Change } from "@signalbox/api/contract/Changes"
import { effect, signal } from "@preact/signals"
import { addressOf, send, sessionPath } from "./api.ts"
import { noteEnd, session } from "./state.ts"

/** `polling`: there is no stream, and what is shown is loaded every few seconds. */
export type LiveState = "connecting" | "live" | "polling"
export const liveState = signal<LiveState>("connecting")

export type Hint = Pick<Change, "topic" | "id">
/** Null: everything may have changed. */
type Listener = (hint: Hint | null) => void

const listeners = new Set<Listener>()

/** Calls it with every hint, until the function that it returns is called. */
export const onHint = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const tell = (hint: Hint | null) => {
  for (const listener of listeners) listener(hint)
}

/** The service sends something every 10 seconds. */
const silence = 25_000
/** Failures in a row after which what is shown is polled. */
const patience = 3
const pollInterval = 4000
const retryDelay = (failures: number) => Math.min(30_000, 500 * 2 ** failures)

/** What tabs tell each other: a hint, or that the stream lives. */
type Message = { readonly hint: Hint | null } | "alive"

/** Reads the stream until it is closed; connects again when it ends or is silent. */
const read = (url: string, heard: () => void, failed: () => void, hint: (hint: Hint | null) => void): (() => void) => {
  let source: EventSource | null = null
  let timer = 0
  let failures = 0
  const watch = () => {
    clearTimeout(timer)
    timer = window.setTimeout(again, silence)
  }
  const again = () => {
    source?.close()
    failures++
    if (failures >= patience) failed()
    clearTimeout(timer)
    timer = window.setTimeout(connect, retryDelay(failures))
    // The stream does not say why it was refused.
    const current = session.value
    send("GET", sessionPath).catch((error: unknown) => noteEnd(error, current))
  }
  const alive = () => {
    failures = 0
    watch()
    heard()
  }
  const connect = () => {
    watch()
    source = new EventSource(url)
    source.addEventListener("ping", alive)
    source.addEventListener("message", ({ data }: MessageEvent<string>) => {
      alive()
      // The service sends what `Change` has.
      const change = JSON.parse(data) as Change
      hint(change.topic === "reset" ? null : change)
    })
    source.addEventListener("error", again)
  }
  connect()
  return () => {
    clearTimeout(timer)
    source?.close()
  }
}

/** Follows the changes of a workspace until the function that it returns is called. */
const follow = (url: string): (() => void) => {
  const ended = new AbortController()
  let poll = 0
  let watchdog = 0
  const polling = () => {
    liveState.value = "polling"
    clearInterval(poll)
    poll = window.setInterval(() => tell(null), pollInterval)
  }
  const alive = () => {
    liveState.value = "live"
    clearInterval(poll)
    clearTimeout(watchdog)
    watchdog = window.setTimeout(polling, patience * silence)
  }
  const lead = (share: (message: Message) => void) =>
    read(
      url,
      () => {
        alive()
        share("alive")
      },
      polling,
      (hint) => {
        tell(hint)
        share({ hint })
      }
    )
  watchdog = window.setTimeout(polling, silence)
  const stop = () => {
    ended.abort()
    clearInterval(poll)
    clearTimeout(watchdog)
  }
  if (!("locks" in navigator) || !("BroadcastChannel" in window)) {
    const close = lead(() => {})
    return () => (close(), stop())
  }
  const channel = new BroadcastChannel(url)
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    alive()
    if (data !== "alive") tell(data.hint)
  })
  navigator.locks
    .request(url, { signal: ended.signal }, () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
      const close = lead((message) => channel.postMessage(message))
      return new Promise<void>((resolve) =>
        ended.signal.addEventListener("abort", () => {
          close()
          resolve()
        })
      )
    })
    // The tab was hidden before it had the lock.
    .catch(() => {})
  return () => {
    stop()
    channel.close()
  }
}

/** Follows while there is a session and the page is looked at. Called once. */
export const startLive = (): void => {
  const isVisible = signal(document.visibilityState === "visible")
  document.addEventListener("visibilitychange", () => (isVisible.value = document.visibilityState === "visible"))
  effect(() => {
    const current = session.value
    if (current == null || !isVisible.value) return
    liveState.value = "connecting"
    return follow(addressOf(current, "changes"))
  })
}
