/**
 * Ready steps over the office-suite graph: find, download and upload files, read and write lists. All need `Graph`; those with
 * local files also `FileSystem` and `Path`, which the layers of `@signalbox/graph/node` provide. They need the package
 * `@signalbox/graph`.
 *
 * In a durable execution a step retries transient failures for a day: a service that is unavailable, overloaded or does not respond.
 * `step.with({ retry })` changes the policy. Only `createListItem` without a `key` fails when the service may have created the item.
 *
 * ```ts
 * import * as Flow from "@signalbox/flows/Flow"
 * import * as Steps from "@signalbox/flows/graph/GraphSteps"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 *
 * export const archive = Flow.make("archive", {
 *   version: 1,
 *   input: Schema.Struct({ report: Schema.String }),
 *   success: Steps.UploadedFile,
 *   error: Steps.downloadFile.error,
 *   idempotencyKey: ({ report }) => report,
 *   run: Effect.fnUntraced(function* ({ report }) {
 *     const file = yield* Steps.downloadFile({
 *       item: { path: report },
 *       to: "./work"
 *     })
 *     const site = yield* Steps.findSite({
 *       site: "https://contoso.sharepoint.com/sites/team"
 *     })
 *     return yield* Steps.uploadFile({
 *       file: file.path,
 *       drive: { site },
 *       item: { path: `/Archive/${file.name}` }
 *     })
 *   })
 * })
 * ```
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { isNotUndefined } from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Drive from "@signalbox/graph/Drive"
import * as Downloads from "@signalbox/graph/Downloads"
import * as Drives from "@signalbox/graph/Drives"
import * as Files from "@signalbox/graph/Files"
import { GraphError, InvalidRequest, transient } from "@signalbox/graph/GraphError"
import * as Lists from "@signalbox/graph/Lists"
import { DriveId, ItemId, ListItemId, SiteId } from "@signalbox/graph/model/Common"
import { odataText, path } from "@signalbox/graph/Path"
import * as QuickXorHash from "@signalbox/graph/QuickXorHash"
import * as Sites from "@signalbox/graph/Sites"
import * as Uploads from "@signalbox/graph/Uploads"
import { LocalFailed, TransferError, transferError } from "@signalbox/graph/TransferError"
import { defined } from "@signalbox/transport/Defined"
import * as Flow from "../Flow.ts"
import { collect } from "../internal/model/Collect.ts"
import type { Codec } from "../internal/model/Values.ts"
import { makeStep, type StepOptions } from "../Step.ts"

/**
 * Defines a step over the graph: a durable execution retries transient failures, after the attempts of the client. `isSafe`: whether
 * also when the service may have acted; default always.
 */
const ready = <I extends Codec, S extends Codec, E extends Codec, R>(
  name: string,
  options: StepOptions<I, S, E, R, never>,
  isSafe?: (input: I["Type"]) => boolean
) =>
  makeStep(name, options, {
    transient: (error) => (error instanceof GraphError ? transient(error) : null),
    isSafe
  })

/** A drive: that of the account that is signed in, the default one of a user, a group or a site, or any by its id. */
export const DriveRef = Schema.Union([
  Schema.Literal("me"),
  Schema.Struct({ id: Schema.String }),
  Schema.Struct({ user: Schema.String }),
  Schema.Struct({ group: Schema.String }),
  Schema.Struct({ site: Schema.String })
])
export type DriveRef = typeof DriveRef.Type

/**
 * An item: the result of another step, which includes its drive, one by its id, or one by its path from the root. With an id and a
 * path: the path below that folder.
 */
export const ItemRef = Schema.Union([
  Schema.Struct({
    id: Schema.String,
    drive: Schema.optionalKey(Schema.NullOr(Schema.String)),
    path: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({ path: Schema.String })
])
export type ItemRef = typeof ItemRef.Type

/** A file or a folder of a drive. */
export const DriveFile = Schema.Struct({
  id: ItemId,
  /** Its drive; null when the response does not include it. */
  drive: Schema.NullOr(DriveId),
  name: Schema.String,
  /** `other`: a notebook, or a kind unknown to this library. */
  kind: Schema.Literals(["file", "folder", "other"]),
  /** Bytes. Null in sparse responses, such as those of a search. */
  size: Schema.NullOr(Schema.Finite),
  /** ISO 8601, UTC. */
  modified: Schema.NullOr(Schema.String),
  webUrl: Schema.NullOr(Schema.String)
})
export type DriveFile = typeof DriveFile.Type

/** Converts an item of the service; a shortcut is replaced by its target. */
const driveFile = (item: Drives.DriveItem): DriveFile => {
  const remoteId = item.remoteItem?.id ?? null
  const found = remoteId === null ? item : { ...item, ...item.remoteItem }
  return {
    id: remoteId ?? item.id,
    drive: found.parentReference?.driveId ?? null,
    name: item.name ?? "",
    kind: (found.file ?? null) !== null ? "file" : (found.folder ?? null) !== null ? "folder" : "other",
    size: found.size ?? null,
    modified: found.lastModifiedDateTime ?? null,
    webUrl: found.webUrl ?? null
  }
}

const driveOf = (drive: DriveRef = "me"): Drive.DriveAddress => (drive === "me" ? Drive.me : Drive.of(drive))

const itemOf = (item: ItemRef): Drive.ItemAddress => {
  if (!("id" in item)) return item
  const { drive, id, path } = item
  return {
    id,
    ...defined({
      path,
      parentReference: drive === undefined || drive === null ? undefined : { driveId: DriveId.make(drive) }
    })
  }
}

const instead = (call: string) => `stream them with ${call}`

/**
 * Returns the files that contain a text in their names, metadata or contents; no folders. Without `within` it searches the whole
 * drive and files shared with the account. The index of the service is minutes behind, so files that this flow has just uploaded
 * may be missing. Results of more than 1 MB in all are a defect.
 */
export const findFiles = ready("findFiles", {
  input: Schema.Struct({
    text: Schema.String,
    drive: Schema.optionalKey(DriveRef),
    within: Schema.optionalKey(ItemRef)
  }),
  success: Schema.Array(DriveFile),
  error: GraphError,
  run: ({ drive, text, within }) =>
    collect(
      Drives.search(driveOf(drive), text, within === undefined ? {} : { within: itemOf(within) }).pipe(
        Stream.map(driveFile),
        Stream.filter(({ kind }) => kind === "file")
      ),
      { what: "the files that were found", instead: instead("Drives.search") }
    )
})

/** Returns the items of a folder, default the root. Results of more than 1 MB in all are a defect. */
export const listFolder = ready("listFolder", {
  input: Schema.Struct({ folder: Schema.optionalKey(ItemRef), drive: Schema.optionalKey(DriveRef) }),
  success: Schema.Array(DriveFile),
  error: GraphError,
  run: ({ drive, folder }) =>
    collect(
      Stream.map(Drives.children(driveOf(drive), folder === undefined ? Drive.root : itemOf(folder)), driveFile),
      { what: "the items of the folder", instead: instead("Drives.children") }
    )
})

const transferFailure = Schema.Union([GraphError, TransferError])

/** A file on this machine: its path, its name and its size in bytes. */
export const LocalFile = Schema.Struct({
  path: Schema.String,
  name: Schema.String,
  size: Schema.Finite,
  /** How it differs from what the service says of it, which happens in document libraries. */
  difference: Schema.optionalKey(Downloads.Difference)
})
export type LocalFile = typeof LocalFile.Type

/**
 * Downloads a file into a local folder. `to`: the folder, created if it is missing; `name`: the local name, default that of the
 * remote file; `verify: false`: does not compare the bytes with the size and hash of the service. Safe to repeat: the file gets its
 * name when it is complete, and an older one is replaced. A durable execution that continues on another machine does not find the
 * file there: use one machine, or a shared folder.
 */
export const downloadFile = ready("downloadFile", {
  input: Schema.Struct({
    item: ItemRef,
    drive: Schema.optionalKey(DriveRef),
    to: Schema.String,
    name: Schema.optionalKey(Schema.String),
    verify: Schema.optionalKey(Schema.Boolean)
  }),
  success: LocalFile,
  error: transferFailure,
  run: Effect.fnUntraced(function* ({ drive, item, name, to, verify }) {
    const fs = yield* FileSystem.FileSystem
    const { basename } = yield* Path.Path
    const { difference, path } = yield* Files.download(driveOf(drive), itemOf(item), {
      to,
      name,
      verify,
      onProgress: (done) => Flow.progress({ done, message: "bytes" })
    })
    const { size } = yield* Effect.mapError(fs.stat(path), unreadable(path))
    return { path, name: basename(path), size: Number(size), ...defined({ difference: difference ?? undefined }) }
  })
})

const unreadable = (path: string) => (error: { readonly message: string }) =>
  transferError(new LocalFailed({ path, message: `cannot read ${path}: ${error.message}` }))

/** Returns the remote file if its bytes equal those of the local one, else null. */
const sameFile = Effect.fnUntraced(function* (drive: Drive.DriveAddress, item: Drive.ItemAddress, path: string) {
  const fs = yield* FileSystem.FileSystem
  const found = yield* Drives.item(drive, item)
  const hash = QuickXorHash.make()
  yield* Stream.runForEach(fs.stream(path), (chunk) => Effect.sync(() => hash.add(chunk))).pipe(
    Effect.mapError(unreadable(path))
  )
  const same = found.size === hash.size && found.file?.hashes?.quickXorHash === hash.digest()
  return same ? found : undefined
})

/** A file that was uploaded. */
export const UploadedFile = Schema.Struct({
  ...DriveFile.fields,
  /** How the stored file differs from what was sent, which document libraries do to Office files. */
  difference: Schema.optionalKey(Uploads.Difference)
})
export type UploadedFile = typeof UploadedFile.Type

/**
 * Uploads a local file to an existing or new item, such as `{ path: "/Reports/May.pdf" }`; missing folders are created. An existing
 * file is replaced; with `conflict: "fail"` the step fails with `GraphError` (`NameAlreadyExists`). Safe to repeat: an existing file
 * with the same bytes counts as uploaded, which with `conflict: "fail"` does not hold for an Office file that a document library
 * rewrote. `verify: false`: the stored file is not compared.
 */
export const uploadFile = ready("uploadFile", {
  input: Schema.Struct({
    file: Schema.String,
    item: ItemRef,
    drive: Schema.optionalKey(DriveRef),
    conflict: Schema.optionalKey(Schema.Literals(["replace", "fail"])),
    verify: Schema.optionalKey(Schema.Boolean)
  }),
  success: UploadedFile,
  error: transferFailure,
  run: Effect.fnUntraced(function* ({ conflict, drive, file, item, verify }) {
    const target = driveOf(drive)
    const address = itemOf(item)
    const uploaded = yield* Files.upload(target, address, file, {
      conflict: conflict ?? "replace",
      verify,
      onProgress: ({ sent, total }) => Flow.progress({ done: sent, total, message: "bytes" })
    }).pipe(
      Effect.catchReason("GraphError", "NameAlreadyExists", (_, error) =>
        sameFile(target, address, file).pipe(
          Effect.filterOrFail(isNotUndefined, () => error),
          Effect.map((found) => ({ ...found, difference: null }))
        )
      )
    )
    const { difference } = uploaded
    return { ...driveFile(uploaded), ...defined({ difference: difference ?? undefined }) }
  })
})

/**
 * Returns the id of a site, for the other steps: by its address (`https://contoso.sharepoint.com/sites/team`),
 * `contoso.sharepoint.com:/sites/team`, a host for its root site, or `root`.
 */
export const findSite = ready("findSite", {
  input: Schema.Struct({ site: Schema.String }),
  success: SiteId,
  error: GraphError,
  run: ({ site }) => Effect.map(Sites.get(site, { select: ["id"] }), ({ id }) => id)
})

/** The id of the item, and the values of its columns by their internal names. */
export const ListRow = Schema.Struct({ id: ListItemId, fields: Lists.Fields })
export type ListRow = typeof ListRow.Type

const row = ({ fields, id }: Lists.ListItem): ListRow => ({ id, fields: fields ?? {} })

/**
 * Returns the items of a list, by its name or id. `fields`: the columns to read, by their internal names, default all;
 * `filter` such as `fields/Total gt 100`; `orderBy` such as `fields/Total desc`. Results of more than 1 MB in all are a defect.
 */
export const listItems = ready("listItems", {
  input: Schema.Struct({
    site: SiteId,
    list: Schema.String,
    fields: Schema.optionalKey(Schema.Array(Schema.String)),
    filter: Schema.optionalKey(Schema.String),
    orderBy: Schema.optionalKey(Schema.String)
  }),
  success: Schema.Array(ListRow),
  error: GraphError,
  run: ({ list, site, ...options }) =>
    collect(Stream.map(Lists.items(site, list, options), row), {
      what: `the items of the list ${list}`,
      instead: instead("Lists.items")
    })
})

/** Formats a value for a filter; null when it is no text, number or boolean. */
const keyLiteral = (value: Schema.Json | undefined): string | null => {
  if (typeof value === "string") return odataText(value)
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null
}

/** Finds the oldest item with the same value in the key column. */
const findByKey = Effect.fnUntraced(function* (site: SiteId, list: string, fields: Lists.Fields, key: string) {
  const literal = keyLiteral(fields[key])
  if (literal !== null) return yield* Stream.runHead(Lists.items(site, list, { filter: `fields/${key} eq ${literal}` }))
  const message = `fields: the key column ${key} has no text, number or boolean; give it one, or leave the key out`
  return yield* new GraphError({
    reason: new InvalidRequest({ codes: [], message }),
    request: {
      operation: "Lists.createItem",
      method: "POST",
      path: path`/sites/${site}/lists/${list}/items`.shown,
      attempts: 0,
      status: null,
      requestId: null,
      clientRequestId: null
    }
  })
})

/**
 * Creates an item of a list; `fields` have the internal names of the columns. The service supports no idempotency keys, so this
 * happens **at least once**: a step that is run again after a crash creates a second item, and without `key` a lost response fails
 * the step. With `key`, the internal name of a column whose value identifies the item, it searches first, and returns an existing
 * one unchanged (`created: false`). Two concurrent executions with the same value may still both create one: let the column enforce
 * unique values if that matters. In lists of more than 5,000 items the column needs an index.
 */
export const createListItem = ready(
  "createListItem",
  {
    input: Schema.Struct({
      site: SiteId,
      list: Schema.String,
      fields: Lists.Fields,
      key: Schema.optionalKey(Schema.String)
    }),
    success: Schema.Struct({ id: ListItemId, created: Schema.Boolean }),
    error: GraphError,
    run: Effect.fnUntraced(function* ({ fields, key, list, site }) {
      const found = key === undefined ? Option.none() : yield* findByKey(site, list, fields, key)
      if (Option.isSome(found)) return { id: found.value.id, created: false }
      const { id } = yield* Lists.createItem(site, list, fields)
      return { id, created: true }
    })
  },
  ({ key }) => key !== undefined
)
