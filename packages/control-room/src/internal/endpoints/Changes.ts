/** What changes in a workspace, as a stream of hints. */
import { CurrentPrincipal, type Permission } from "@signalbox/api/contract/Authorization"
import { type Change, changeTopics, pingEvent } from "@signalbox/api/contract/Changes"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Authorization } from "../edge/Authorization.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { callerOf } from "../edge/Permissions.ts"
import { failed, refuse } from "../edge/Failures.ts"
import { Changes, type Hint, type Mail, type Mailbox } from "../store/room/Changes.ts"
import { Notifier } from "../store/database/Notifier.ts"

/** Of one caller, and of all, on one node: a stream takes some 70 KB of memory. */
const mostStreams = { caller: 32, node: 10_000 } as const
/** How often a reader hears from a stream on which nothing happens, and the key or session is looked up again. */
const pingInterval = Duration.seconds(10)
/** Between two deliveries: changes in between are sent once. */
const rest = Duration.millis(250)

const headers = {
  "cache-control": "no-store, no-transform",
  // nginx and others gather responses otherwise.
  "x-accel-buffering": "no"
}

const event = (change: { readonly [K in keyof Change]: Change[K] | Hint["topic"] }) =>
  `id: ${change.seq}\ndata: ${JSON.stringify(change)}\n\n`
const ping = `event: ${pingEvent}\ndata: {}\n\n`

interface Position {
  /** Of the last hint. */
  readonly seq: number
  /** When the key or session was looked up, in milliseconds since 1970. */
  readonly checkedAt: number
  readonly hasTold: boolean
}

export const layer = Endpoints.group(
  "changes",
  Effect.fnUntraced(function* (handlers) {
    const changes = yield* Changes
    const notifier = yield* Notifier
    const { stillHolds } = yield* Authorization
    const open = new Map<string, Set<Mailbox>>()
    let isStopping = false
    let streams = 0

    const wake = (boxes: Iterable<Mailbox>) => Effect.forEach([...boxes], (box) => box.wake, { discard: true })
    const all = Effect.suspend(() => wake([...open.values()].flatMap((boxes) => [...boxes])))
    // A stream that is woken looks its key or session up.
    const ofKey = (key: string | null) => Effect.suspend(() => (key === null ? all : wake(open.get(key) ?? [])))
    yield* notifier.subscribe("key revoked", ofKey)
    yield* notifier.subscribe("session closed", ofKey)
    yield* notifier.subscribe("permissions changed", () => all)
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isStopping = true
        return all
      })
    )

    const register = (caller: string, box: Mailbox) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const boxes = open.get(caller) ?? new Set()
          open.set(caller, boxes.add(box))
          streams++
        }),
        () =>
          Effect.sync(() => {
            const boxes = open.get(caller)
            boxes?.delete(box)
            if (boxes?.size === 0) open.delete(caller)
            streams--
          })
      )

    return handlers.handleAll({
      watchChanges: Effect.fnUntraced(function* ({ headers: sent, params, query, request }) {
        const principal = yield* CurrentPrincipal
        const caller = callerOf(principal)
        const ofCaller = open.get(caller.id)?.size ?? 0
        if (ofCaller >= mostStreams.caller || streams >= mostStreams.node) {
          const message = `too many streams of changes are open (${mostStreams.caller} for a key); close some, or poll`
          return failed(refuse(429, "RATE_LIMITED", message, { "retry-after": "10" }))
        }
        const box = yield* changes.mailbox(params.workspace_id)
        yield* register(caller.id, box)
        const mayRead = ({ topic }: Hint) => {
          const needed: Permission | undefined = changeTopics[topic]
          return needed !== undefined && caller.permissions.has(needed)
        }

        const eventsOf = (hints: Mail["hints"], seq: number): ReadonlyArray<string> =>
          hints === "reset"
            ? [event({ topic: "reset", id: null, seq: seq + 1 })]
            : hints.filter(mayRead).map(({ id, topic }, index) => event({ topic, id, seq: seq + index + 1 }))

        const step = Effect.fnUntraced(function* ({ checkedAt, hasTold, seq }: Position) {
          if (hasTold) yield* Effect.sleep(rest)
          const mail = yield* Effect.timeoutOption(box.take, pingInterval)
          const now = yield* Clock.currentTimeMillis
          const isDue = Option.isNone(mail) || mail.value.isWoken || now - checkedAt >= Duration.toMillis(pingInterval)
          if (isStopping || (isDue && !(yield* stillHolds(request, principal)))) return [[], Option.none()] as const
          const events = Option.match(mail, { onNone: () => [ping], onSome: ({ hints }) => eventsOf(hints, seq) })
          const told = Option.isSome(mail) ? events.length : 0
          const next = { seq: seq + told, checkedAt: isDue ? now : checkedAt, hasTold: told > 0 }
          return [events.length === 0 ? [] : [events.join("")], Option.some<Position>(next)] as const
        })

        const last = Number(query.after ?? sent["last-event-id"] ?? 0)
        const seq = Number.isSafeInteger(last) && last > 0 ? last : 0
        const first = Stream.make(eventsOf("reset", seq).join(""))
        const start: Position = { seq: seq + 1, checkedAt: yield* Clock.currentTimeMillis, hasTold: true }
        return HttpServerResponse.stream(Stream.encodeText(Stream.concat(first, Stream.paginate(start, step))), {
          contentType: "text/event-stream",
          headers
        })
      })
    })
  })
)
