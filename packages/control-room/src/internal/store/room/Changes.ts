/**
 * Tells those who look at a workspace that something changed, on all nodes. Hints are gathered for a moment: however much
 * changes, the nodes exchange a few notifications a second.
 */
import type { ChangeTopic } from "@signalbox/api/contract/Changes"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { steady } from "../../background/BackgroundTask.ts"
import { Database } from "../database/Database.ts"
import { Notifier } from "../database/Notifier.ts"

export interface Hint {
  readonly topic: ChangeTopic
  /** Null: of several, or of none. */
  readonly id: string | null
}

export interface Mail {
  /** What was told; `reset`: some were left out. */
  readonly hints: ReadonlyArray<Hint> | "reset"
  /** Whether the reader was woken, besides. */
  readonly isWoken: boolean
}

/** The hints that one reader has not received yet, never more than a few: a slow reader is told to load everything. */
export interface Mailbox {
  /** Waits for mail. */
  readonly take: Effect.Effect<Mail>
  /** Wakes the reader without a hint. */
  readonly wake: Effect.Effect<void>
}

/** How long hints are gathered before they are sent to other nodes. */
const gatherMillis = 200
/** Ids of a topic that are told one by one; more are told as one hint without an id. */
const mostIds = 16
/** Hints that a mailbox has at most. */
const mostHints = 64
/** Bytes of a notification: Postgres takes 8,000 with what it adds. */
const mostBytes = 7000

/** Hints by workspace and topic, in numbers that are bounded. */
class Gathered {
  private readonly topics = new Map<string, Set<string> | null>()

  add(workspace: string, { id, topic }: Hint): void {
    const name = `${workspace} ${topic}`
    const ids = this.topics.get(name)
    if (ids === null) return
    if (id === null || ids?.size === mostIds) this.topics.set(name, null)
    else if (ids === undefined) this.topics.set(name, new Set([id]))
    else ids.add(id)
  }

  /** Lines of `workspace topic id`, in texts that fit into a notification. */
  takeTexts(): ReadonlyArray<string> {
    const texts: Array<string> = []
    let text = ""
    for (const [name, ids] of this.topics) {
      for (const line of ids === null ? [`${name} `] : Array.from(ids, (id) => `${name} ${id}`)) {
        if (text.length + line.length > mostBytes) {
          texts.push(text)
          text = ""
        }
        text += `${text === "" ? "" : ";"}${line}`
      }
    }
    this.topics.clear()
    return text === "" ? texts : [...texts, text]
  }
}

/** The lines of a notification. */
const parse = (text: string) =>
  text.split(";").map((line) => {
    const [workspace = "", topic = "", id = ""] = line.split(" ")
    // Nodes of another version may have other topics; readers ignore what they do not know.
    return { workspace, hint: { topic: topic as ChangeTopic, id: id === "" ? null : id } }
  })

const makeMailbox = () => {
  const latch = Latch.makeUnsafe(false)
  const hints = new Map<string, Hint>()
  let isReset = false
  let isWoken = false
  const open = () => void latch.openUnsafe()
  const put = (hint: Hint) => {
    if (!isReset) hints.set(`${hint.topic} ${hint.id}`, hint)
    if (hints.size > mostHints) reset()
    open()
  }
  const reset = () => {
    isReset = true
    hints.clear()
    open()
  }
  const take = Effect.map(latch.await, (): Mail => {
    latch.closeUnsafe()
    const mail = { hints: isReset ? ("reset" as const) : [...hints.values()], isWoken }
    isReset = false
    isWoken = false
    hints.clear()
    return mail
  })
  const wake = Effect.sync(() => {
    isWoken = true
    open()
  })
  return { put, reset, box: { take, wake } satisfies Mailbox }
}

type Known = ReturnType<typeof makeMailbox> & { readonly workspace: string }

export class Changes extends Context.Service<
  Changes,
  {
    /**
     * Tells them when the current transaction commits; without one, immediately. They are asked for only if somebody may
     * look: most of what changes changes unwatched.
     */
    readonly tell: (workspace: string, hints: LazyArg<ReadonlyArray<Hint>>) => Effect.Effect<void>
    /** What changes in a workspace from now on, until the scope closes. */
    readonly mailbox: (workspace: string) => Effect.Effect<Mailbox, never, Scope.Scope>
  }
>()("@signalbox/control-room/store/Changes") {
  static readonly layer = Layer.effect(
    Changes,
    Effect.gen(function* () {
      const { sql } = yield* Database
      const notifier = yield* Notifier
      const mailboxes = new Set<Known>()
      const gathered = new Gathered()
      const isDue = Latch.makeUnsafe(false)

      yield* notifier.subscribe("changed", (text) =>
        Effect.sync(() => {
          if (text === null) return mailboxes.forEach((known) => known.reset())
          for (const { hint, workspace } of parse(text)) {
            for (const known of mailboxes) if (known.workspace === workspace) known.put(hint)
          }
        })
      )

      const send = Effect.gen(function* () {
        yield* isDue.await
        yield* Effect.sleep(gatherMillis)
        isDue.closeUnsafe()
        yield* Effect.forEach(gathered.takeTexts(), (text) => notifier.notify("changed", text), { discard: true })
      })
      yield* send.pipe(steady("telling what changed"), Effect.forever, Effect.forkScoped)

      return Changes.of({
        tell: (workspace, hints) =>
          Effect.suspend(() => {
            // There is no subscriber, and on SQLite no other node.
            if (!notifier.shared && mailboxes.size === 0) return Effect.void
            return sql.afterCommit(
              Effect.sync(() => {
                for (const hint of hints()) {
                  gathered.add(workspace, hint)
                  isDue.openUnsafe()
                }
              })
            )
          }),
        mailbox: (workspace) =>
          Effect.map(
            Effect.acquireRelease(
              Effect.sync((): Known => {
                const known = { ...makeMailbox(), workspace }
                mailboxes.add(known)
                return known
              }),
              (known) => Effect.sync(() => mailboxes.delete(known))
            ),
            ({ box }) => box
          )
      })
    })
  )
}
