/** What a worker reports of one step run besides its start and end: console messages, events, artifacts. */
import type { CallError } from "@signalbox/api/ControlRoomError"
import type * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import type { SizedBytes, UploadSourceError } from "@signalbox/api/Upload"
import { defined } from "@signalbox/transport/Defined"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { backoff, isUnavailable, isLeaseLost, retryUntilAvailable } from "../outcome/Failures.ts"
import { LeaseLost } from "../outcome/LeaseLost.ts"
import * as Mask from "./Mask.ts"
import * as MaskedFile from "./MaskedFile.ts"

export type Calls = Pick<
  Effect.Success<ReturnType<typeof WorkerProtocol.makeReports>>,
  "sendConsole" | "sendEvents" | "uploadArtifact"
>

export interface Reports {
  /** Hides values of secrets in all that is reported. */
  readonly mask: Mask.Mask
  /** Writes lines to the console. Applies backpressure: waits while too many lines are unsent. */
  readonly write: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /**
   * Writes a line from code that cannot wait. While too many lines are unsent it is dropped, and the number of dropped
   * lines is reported, in the console and at the end as the event `LOG_INCOMPLETE`.
   */
  readonly writeNow: (line: string) => void
  /** Whether code that cannot wait should pause before it writes more. */
  readonly isCrowded: () => boolean
  /** Runs a function as soon as it need not pause. */
  readonly whenClear: (resume: () => void) => void
  /** From now on nothing pauses: the task is to end. */
  readonly hurry: Effect.Effect<void>
  /** Records an event of the worker, such as `SETUP`, or `ENVIRONMENT` with the environment. */
  readonly event: (type: string, environment?: WorkerProtocol.StepRunEnvironment) => Effect.Effect<void>
  /** Uploads an artifact; its name is a relative path. One of the same name is replaced. */
  readonly saveArtifact: (source: SizedBytes) => Effect.Effect<void, CallError | UploadSourceError>
  /** Waits until the service has received everything, or refuses more. */
  readonly flush: Effect.Effect<void>
  /** Whether the service has reported that the lease is lost. */
  readonly isLost: () => boolean
}

/** In UTF-16 units, as the service counts. */
const maxMessage = 65_536
const maxMessages = 1000
/** Of one request, in UTF-16 units: in JSON each may take six bytes, and a request may have 8 MB. */
const maxBatch = 1_000_000
/** The limit of unsent text, in UTF-16 units. */
const maxWaiting = 2_000_000
/** From here on, what cannot wait pauses; the rest is for what it writes until it does. */
const crowded = maxWaiting / 2
const tooFast = "the task wrote them faster than the service received them"
/** Lines within this time are sent together. */
const interval = "500 millis"

/** Splits text into messages of the allowed length, without characters that the service refuses. */
const messagesOf = (line: string): ReadonlyArray<string> => {
  if (line.length <= maxMessage) return [line.replaceAll("\0", "\uFFFD").toWellFormed()]
  // Never between the halves of a surrogate pair.
  const cut = /[\uD800-\uDBFF]/.test(line.charAt(maxMessage - 1)) ? maxMessage - 1 : maxMessage
  return [...messagesOf(line.slice(0, cut)), ...messagesOf(line.slice(cut))]
}

/** Creates the reports of a step run, which are sent until the scope closes. `onLost` runs when the lease is lost. */
export const make = Effect.fnUntraced(function* (
  calls: Calls,
  lease: WorkerProtocol.Lease,
  onLost: Effect.Effect<unknown>
) {
  const clock = yield* Clock.Clock
  const waiting: Array<{ readonly timestamp: string; readonly message: string }> = []
  const events: Array<WorkerProtocol.WorkerEvent> = []
  const something = yield* Latch.make(false)
  const room = yield* Latch.make(true)
  const nothing = yield* Latch.make(true)
  const hurry = yield* Latch.make(false)
  let size = 0
  let sentMessages = 0
  let sentEvents = 0
  let leftOut = 0
  let dropped = 0
  let over = false
  let lost = false
  let ending = false
  const mask = Mask.make()
  let paused: Array<() => void> = []
  let hurried = false

  const isCrowded = () => !over && !hurried && size >= crowded
  const resume = () => {
    if (isCrowded()) return
    const resumed = paused
    paused = []
    for (const each of resumed) each()
  }
  /** Whether a batch need not wait for more lines, whose writers may be waiting. */
  const isFull = () => waiting.length >= maxMessages || size >= maxBatch

  const now = () => new Date(clock.currentTimeMillisUnsafe()).toISOString()
  const wake = () => {
    nothing.closeUnsafe()
    something.openUnsafe()
  }
  const add = (line: string) => {
    const timestamp = now()
    for (const message of messagesOf(mask.text(line))) {
      waiting.push({ timestamp, message })
      size += message.length + 1
    }
    if (size >= maxWaiting) room.closeUnsafe()
    if (isFull()) hurry.openUnsafe()
    wake()
  }
  const sayLeftOut = () => {
    if (leftOut === 0) return
    add(`${leftOut} lines were dropped: ${tooFast}`)
    leftOut = 0
  }
  /** The notes are between the lines of a long log; the event is what the step run shows. */
  const sayDropped = () => {
    if (dropped === 0 || over) return
    const message = `${dropped} lines of the log were dropped: ${tooFast}`
    dropped = 0
    events.push({ timestamp: now(), event_type: "LOG_INCOMPLETE", message })
    wake()
  }

  const takeBatch = () => {
    let count = 0
    let length = 0
    while (count < maxMessages && count < waiting.length) {
      const next = (waiting[count]?.message.length ?? 0) + 1
      if (count > 0 && length + next > maxBatch) break
      length += next
      count++
    }
    return { messages: waiting.slice(0, count), length }
  }

  const stopReporting = Effect.sync(() => {
    over = true
    waiting.length = 0
    events.length = 0
    size = 0
    room.openUnsafe()
    something.closeUnsafe()
    nothing.openUnsafe()
    resume()
  })

  const send = Effect.gen(function* () {
    if (events.length > 0) {
      const batch = events.slice(0, 100)
      yield* retryUntilAvailable(calls.sendEvents(lease, sentEvents, batch))
      sentEvents += batch.length
      events.splice(0, batch.length)
    }
    const { length, messages } = takeBatch()
    if (messages.length > 0) {
      yield* retryUntilAvailable(calls.sendConsole(lease, sentMessages, messages))
      sentMessages += messages.length
      waiting.splice(0, messages.length)
      size -= length
      sayLeftOut()
      if (size < maxWaiting) yield* room.open
      resume()
    }
    if (waiting.length + events.length > 0) return
    yield* something.close
    yield* nothing.open
  })

  const pump = Effect.gen(function* () {
    while (true) {
      yield* something.await
      yield* send
      if (!isFull() && !ending) yield* hurry.close
      yield* Effect.timeoutOption(hurry.await, interval)
    }
  }).pipe(
    Effect.catch((error) => {
      lost = error instanceof LeaseLost
      const told = lost
        ? onLost
        : Effect.annotateLogs(Effect.logWarning("the console of the step run is incomplete"), { error: error._tag })
      return Effect.andThen(stopReporting, told)
    })
  )
  yield* Effect.forkScoped(pump)

  const reports: Reports = {
    mask,
    isCrowded,
    whenClear: (each) => {
      paused.push(each)
      resume()
    },
    write: Effect.fnUntraced(function* (lines) {
      for (const line of lines) {
        yield* room.await
        if (over) return
        add(line)
      }
    }),
    writeNow: (line) => {
      if (over) return
      if (size < maxWaiting) return add(line)
      leftOut++
      dropped++
    },
    hurry: Effect.sync(() => {
      hurried = true
      resume()
    }),
    event: (type, environment) =>
      Effect.sync(() => {
        if (over) return
        events.push({ timestamp: now(), event_type: type, ...defined({ environment }) })
        wake()
      }),
    saveArtifact: (source) =>
      Effect.flatMap(MaskedFile.hide(mask, source), (file) => calls.uploadArtifact(lease, file)).pipe(
        // Bounded: a file that can no longer be read looks like a broken connection.
        Effect.retry({
          while: (error) => error._tag !== "UploadSourceError" && isUnavailable(error),
          schedule: backoff,
          times: 12
        }),
        Effect.tapError((error) => {
          if (!isLeaseLost(error)) return Effect.void
          lost = true
          return Effect.andThen(stopReporting, onLost)
        })
      ),
    flush: Effect.suspend(() => {
      ending = true
      sayDropped()
      return Effect.andThen(hurry.open, nothing.await)
    }),
    isLost: () => lost
  }
  return reports
})
