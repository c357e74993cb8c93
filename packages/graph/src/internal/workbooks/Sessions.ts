/**
 * Calls of a workbook, in the session in which it is open or without one.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Semaphore from "effect/Semaphore"
import { type DriveAddress, type ItemAddress, itemPath } from "../../Drive.ts"
import type { Graph } from "../../Graph.ts"
import { GraphError, OutcomeUnknown, SessionLost, transient } from "../../GraphError.ts"
import { SessionInfo } from "../../model/Workbook.ts"
import { type Path, path } from "../../Path.ts"
import { GraphPolicy } from "../../Policy.ts"
import { json, unit } from "../requests/Call.ts"

interface State {
  readonly id: string
  /** Something was written, or may have been. */
  readonly hasChanges: boolean
  /** When the service last heard of it. */
  readonly usedAt: number
}

interface Parts {
  readonly state: Ref.Ref<State>
  /** One request at a time, as the service asks for: concurrent ones conflict, or are throttled. */
  readonly turn: Semaphore.Semaphore
}

/** A session of the service, in which a workbook is open. */
export class Session {
  readonly persistChanges: boolean
  readonly #parts: Parts

  constructor(persistChanges: boolean, parts: Parts) {
    this.persistChanges = persistChanges
    this.#parts = parts
  }

  static readonly partsOf = (session: Session): Parts => session.#parts
}

/** A workbook: a file of a drive. Without a session each call opens it anew, and what is written is saved. */
export interface Workbook {
  readonly drive: DriveAddress
  readonly item: ItemAddress
  /** The session in which it is open, which `session` makes. */
  readonly session?: Session | undefined
}

/** What of a workbook is called, such as `worksheets`. */
export const workbookPath = ({ drive, item }: Workbook, relation: Path): Path =>
  itemPath(drive, item, path`workbook/${relation}`)

const sessionInfo = json(SessionInfo)

const begun = ({ drive, item }: Workbook, persistChanges: boolean) =>
  sessionInfo({
    method: "POST",
    path: workbookPath({ drive, item }, path`createSession`),
    headers: drive.headers,
    json: { persistChanges },
    // The service drops an unused session.
    repeatable: true
  })

/** Whether the service may have acted on a call that failed. */
const mayHaveActed = (error: GraphError): boolean => transient(error)?.acted === "maybe"

type Headers = Readonly<Record<string, string>>

const lost = ({ reason, request }: GraphError) =>
  new GraphError({
    reason: new SessionLost({
      codes: reason.codes,
      message: "the session has ended, and with it what was changed in it: open another, and write it again"
    }),
    request
  })

/**
 * Sends a call in the session of its workbook. When the service no longer knows the session, a new one is begun and the call is sent
 * again: the service refused it, so nothing was done. Changes of a session that does not save them are gone with it, and so it fails.
 */
export const inSession = Effect.fnUntraced(function* <A>(
  workbook: Workbook,
  kind: "reads" | "writes",
  send: (headers: Headers) => Effect.Effect<A, GraphError, Graph>
): Effect.fn.Return<A, GraphError, Graph> {
  const { drive, session } = workbook
  if (session === undefined) return yield* send(drive.headers)
  const { persistChanges } = session
  const { state, turn } = Session.partsOf(session)
  const call = Effect.gen(function* () {
    const { hasChanges, id } = yield* Ref.get(state)
    const note = (changed: boolean) =>
      Effect.flatMap(Clock.currentTimeMillis, (usedAt) =>
        Ref.update(state, (now) => ({ ...now, usedAt, hasChanges: changed }))
      )
    const attempt = (id: string) => send({ ...drive.headers, "workbook-session-id": id })
    if (kind === "writes") yield* note(true)
    return yield* attempt(id).pipe(
      Effect.catchReason("GraphError", "SessionLost", (_, error) => {
        if (!persistChanges && hasChanges) return Effect.fail(lost(error))
        return begun(workbook, persistChanges).pipe(
          Effect.tap((info) => Ref.update(state, (now) => ({ ...now, id: info.id }))),
          Effect.flatMap((info) => attempt(info.id))
        )
      }),
      Effect.tap(() => note(hasChanges || kind === "writes")),
      Effect.tapError((error) => note(hasChanges || (kind === "writes" && mayHaveActed(error))))
    )
  })
  return yield* turn.withPermit(call)
})

/** What cannot be sent twice, and may have been done, has an outcome that nobody knows. */
export const once = <A, R>(call: Effect.Effect<A, GraphError, R>): Effect.Effect<A, GraphError, R> =>
  Effect.mapError(call, (error) => {
    if (!mayHaveActed(error)) return error
    const { codes, message } = error.reason
    return new GraphError({ reason: new OutcomeUnknown({ codes, message }), request: error.request })
  })

/** Opens a workbook. */
export const open = Effect.fnUntraced(function* (drive: DriveAddress, item: ItemAddress, persistChanges: boolean) {
  const { id } = yield* begun({ drive, item }, persistChanges)
  const state = yield* Ref.make<State>({ id, hasChanges: false, usedAt: yield* Clock.currentTimeMillis })
  const session = new Session(persistChanges, { state, turn: yield* Semaphore.make(1) })
  const workbook: Workbook = { drive, item, session }
  return workbook
})

/** Asks for something of the session itself. */
const ofSession = Effect.fnUntraced(function* (workbook: Workbook, session: Session, what: Path) {
  const { id } = yield* Ref.get(Session.partsOf(session).state)
  const headers = { ...workbook.drive.headers, "workbook-session-id": id }
  return yield* unit({ method: "POST", path: workbookPath(workbook, what), headers, json: {}, repeatable: true })
})

/** Closes the session of a workbook. One that cannot be closed ends by itself, so nothing is tried again. */
export const close = Effect.fnUntraced(function* (workbook: Workbook) {
  const { session } = workbook
  if (session === undefined) return
  const given = yield* GraphPolicy
  const policy = { ...given, attempts: 1, attemptTimeoutMillis: Math.min(given.attemptTimeoutMillis, 10_000) }
  yield* Effect.ignore(ofSession(workbook, session, path`closeSession`)).pipe(
    Effect.provideService(GraphPolicy, policy)
  )
})

/** A session that nobody uses ends after 5 minutes, or 7 when it does not save. */
const idleMillis = 4 * 60_000

/** Refreshes the session of a workbook whenever it was not used for a while. One that is lost is found out by the next call. */
export const keptAlive = Effect.fnUntraced(function* (workbook: Workbook) {
  const { session } = workbook
  if (session === undefined) return
  const { state, turn } = Session.partsOf(session)
  const idle = Effect.zipWith(Clock.currentTimeMillis, Ref.get(state), (now, { usedAt }) => now - usedAt)
  const refresh = Effect.gen(function* () {
    if ((yield* idle) < idleMillis) return
    yield* Effect.ignore(ofSession(workbook, session, path`refreshSession`))
    const usedAt = yield* Clock.currentTimeMillis
    yield* Ref.update(state, (now) => ({ ...now, usedAt }))
  })
  return yield* Effect.forever(
    Effect.andThen(
      Effect.flatMap(idle, (millis) => Effect.sleep(Math.max(1000, idleMillis - millis))),
      turn.withPermit(refresh)
    )
  )
})
