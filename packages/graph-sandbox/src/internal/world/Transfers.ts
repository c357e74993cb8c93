/**
 * What goes over the host of files: links to contents, upload sessions, and jobs that take a while.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import * as Ids from "../model/Ids.ts"
import type { Mailbox, MailMessage } from "../model/Mail.ts"
import type { Gap, Item } from "../model/Model.ts"
import * as QuickXorHash from "./QuickXorHash.ts"
import type { Change, Conflict } from "./Tree.ts"

/** What comes in fragments. */
export interface Receiving {
  readonly id: string
  /** Where the bytes lie until all are there. */
  readonly path: string
  readonly hash: QuickXorHash.Folded
  /** Unknown before the first fragment. */
  total: number | null
  gaps: ReadonlyArray<Gap>
  expiresAt: number
  /** A fragment is being written. */
  busy: boolean
}

/** An attachment of a message that comes in fragments. */
export interface AttachmentSession extends Receiving {
  readonly mailbox: Mailbox
  readonly message: MailMessage
  readonly name: string
  readonly contentType: string | null
  readonly contentId: string | null
  readonly isInline: boolean
  readonly size: number
}

/** A file that comes in fragments. */
export interface Session extends Receiving {
  /** The folder, or the item, that `names` starts from. */
  readonly from: Item
  readonly names: ReadonlyArray<string>
  readonly conflict: Conflict
  readonly deferCommit: boolean
  readonly description: string | null
  readonly fileSystem: Item["fileSystem"]
  readonly change: Change
}

/** A copy, seen from outside. */
export interface Job {
  readonly operation: string
  readonly itemId: string
  polls: number
}

export interface Settings {
  /** Seconds that an upload session lives on after each fragment. */
  readonly uploadSessionSeconds: number
  /** Seconds without use after which the session of a workbook ends, by whether it is persistent. */
  readonly workbookSessionSeconds: { readonly persistent: number; readonly other: number }
  /** Seconds that a link to contents holds. */
  readonly downloadSeconds: number
  /** Seconds until a search of messages finds a new one. */
  readonly mailSearchSeconds: number
  /** Who sends a token to the host of files is refused. */
  readonly refuseTokens: boolean
  /** Office files that are uploaded to document libraries are rewritten. */
  readonly rewriteOffice: boolean
}

const make = (origin: string, settings: Settings) => {
  const key = randomBytes(32)
  const sessions = new Map<string, Session>()
  const jobs = new Map<string, Job>()
  const attachments = new Map<string, AttachmentSession>()
  const sign = (what: string) => createHmac("sha256", key).update(what).digest("base64url")

  return {
    origin,
    settings,
    sessions,
    jobs,
    attachments,
    /** The address of an item's contents, for who has it; `version` is the one to serve. */
    contentUrl: (item: Item, now: number, version = ""): string => {
      const until = now + settings.downloadSeconds * 1000
      const path = `/download/${item.drive.id}/${item.id}`
      return `${origin}${path}?version=${version}&until=${until}&tempauth=${sign(`${path} ${version} ${until}`)}`
    },
    /** Whether the address is one of ours, and still holds. */
    isValid: (url: URL, now: number): boolean => {
      const { pathname, searchParams } = url
      const until = searchParams.get("until") ?? ""
      const wanted = Buffer.from(sign(`${pathname} ${searchParams.get("version") ?? ""} ${until}`))
      const given = Buffer.from(searchParams.get("tempauth") ?? "")
      return given.length === wanted.length && timingSafeEqual(given, wanted) && Number(until) > now
    },
    open: (
      given: Pick<
        Session,
        "from" | "names" | "conflict" | "deferCommit" | "description" | "fileSystem" | "change" | "path"
      >
    ) => {
      const session: Session = {
        ...given,
        id: Ids.secret(),
        hash: QuickXorHash.make(),
        total: null,
        gaps: [],
        expiresAt: given.change.at + settings.uploadSessionSeconds * 1000,
        busy: false
      }
      sessions.set(session.id, session)
      return session
    },
    openAttachment: ({
      now,
      ...given
    }: Omit<AttachmentSession, "id" | "hash" | "total" | "gaps" | "expiresAt" | "busy"> & { readonly now: number }) => {
      const session: AttachmentSession = {
        ...given,
        id: Ids.secret(),
        hash: QuickXorHash.make(),
        total: given.size,
        gaps: [{ from: 0, to: given.size }],
        expiresAt: now + settings.uploadSessionSeconds * 1000,
        busy: false
      }
      attachments.set(session.id, session)
      return session
    },
    attachmentUrl: ({ id }: AttachmentSession): string =>
      `${origin}/attachments/${id}?authtoken=${sign(id).slice(0, 16)}`,
    /** The session, unless it is over. */
    session: (id: string, now: number): Session | undefined => {
      const session = sessions.get(id)
      return session === undefined || session.expiresAt <= now ? undefined : session
    },
    uploadUrl: ({ id }: Session): string => `${origin}/upload/${id}?tempauth=${sign(id).slice(0, 16)}`,
    sessionIdOf: (url: string): string | undefined => /\/upload\/([\w-]+)/.exec(url)?.[1],
    startJob: (operation: string, itemId: string): string => {
      const id = Ids.secret()
      jobs.set(id, { operation, itemId, polls: 0 })
      return `${origin}/monitor/${id}`
    }
  }
}

export class Transfers extends Context.Service<Transfers, ReturnType<typeof make>>()(
  "@signalbox/graph-sandbox/internal/Transfers"
) {
  static readonly layer = (origin: string, settings: Settings) =>
    Layer.effect(Transfers)(Effect.sync(() => make(origin, settings)))
}

/** The ranges that are still to come, as the wire writes them. */
export const expectedRanges = ({ gaps, total }: Receiving): ReadonlyArray<string> =>
  total === null ? ["0-"] : gaps.map(({ from, to }) => (to === total ? `${from}-` : `${from}-${to - 1}`))

/** What is left of the gaps when a range has come. */
export const without = (gaps: ReadonlyArray<Gap>, { from, to }: Gap): ReadonlyArray<Gap> =>
  gaps
    .flatMap((gap) => [
      { from: gap.from, to: Math.min(gap.to, from) },
      { from: Math.max(gap.from, to), to: gap.to }
    ])
    .filter((gap) => gap.from < gap.to)
