/**
 * Drives, and the files and folders in them. What an item is, its facets say: `file`, `folder`, `package`, `deleted`.
 */
import * as Schema from "effect/Schema"
import { base, DriveId, IdentitySet, ItemId, ItemReference, maybe, SharepointIds } from "./Common.ts"
import {
  Audio,
  FileFacet,
  FileSystemInfo,
  FolderFacet,
  Image,
  Package,
  Photo,
  Quota,
  Shared,
  SpecialFolder,
  Video
} from "./Facets.ts"

export * from "./Facets.ts"

const text = maybe(Schema.String)
const number = maybe(Schema.Finite)
const empty = Schema.Struct({})

export class Drive extends Schema.Opaque<Drive>()(
  Schema.Struct({
    ...base,
    id: DriveId,
    /** `personal`, `business` or `documentLibrary`. */
    driveType: text,
    owner: maybe(IdentitySet),
    quota: maybe(Quota),
    sharePointIds: maybe(SharepointIds),
    system: maybe(empty)
  })
) {}

/** An item of another drive, as it shows in this one. */
export class RemoteItem extends Schema.Opaque<RemoteItem>()(
  Schema.Struct({
    id: maybe(ItemId),
    name: text,
    size: number,
    webUrl: text,
    createdDateTime: text,
    lastModifiedDateTime: text,
    createdBy: maybe(IdentitySet),
    lastModifiedBy: maybe(IdentitySet),
    file: maybe(FileFacet),
    folder: maybe(FolderFacet),
    fileSystemInfo: maybe(FileSystemInfo),
    package: maybe(Package),
    parentReference: maybe(ItemReference),
    shared: maybe(Shared),
    sharepointIds: maybe(SharepointIds),
    specialFolder: maybe(SpecialFolder)
  })
) {}

export class DriveItem extends Schema.Opaque<DriveItem>()(
  Schema.Struct({
    ...base,
    id: ItemId,
    /** Bytes. Absent in sparse responses, such as those of a search. */
    size: number,
    cTag: text,
    webDavUrl: text,
    /** Whoever has this address may download for about an hour, without a token. */
    "@microsoft.graph.downloadUrl": Schema.optionalKey(Schema.RedactedFromValue(Schema.String)),
    file: maybe(FileFacet),
    folder: maybe(FolderFacet),
    package: maybe(Package),
    root: maybe(empty),
    deleted: maybe(Schema.Struct({ state: text })),
    remoteItem: maybe(RemoteItem),
    shared: maybe(Shared),
    fileSystemInfo: maybe(FileSystemInfo),
    image: maybe(Image),
    photo: maybe(Photo),
    audio: maybe(Audio),
    video: maybe(Video),
    location: maybe(Schema.Struct({ altitude: number, latitude: number, longitude: number })),
    malware: maybe(Schema.Struct({ description: text })),
    publication: maybe(Schema.Struct({ checkedOutBy: maybe(IdentitySet), level: text, versionId: text })),
    searchResult: maybe(Schema.Struct({ onClickTelemetryUrl: text })),
    sharepointIds: maybe(SharepointIds),
    specialFolder: maybe(SpecialFolder)
  })
) {}

/** An upload in progress. Whoever has its address may write to it. */
export class UploadSession extends Schema.Opaque<UploadSession>()(
  Schema.Struct({
    uploadUrl: Schema.RedactedFromValue(Schema.String),
    expirationDateTime: text,
    nextExpectedRanges: maybe(Schema.Array(Schema.String))
  })
) {}

/** How far an upload is: the ranges that are still missing, as `"5242880-"` or `"0-99"`. */
export class UploadStatus extends Schema.Opaque<UploadStatus>()(
  Schema.Struct({
    expirationDateTime: text,
    nextExpectedRanges: maybe(Schema.Array(Schema.String))
  })
) {}

/** How far a job (a copy) is. `status`: `notStarted`, `inProgress`, `waiting`, `completed`, `failed` and others. */
export class JobStatus extends Schema.Opaque<JobStatus>()(
  Schema.Struct({
    operation: text,
    percentageComplete: number,
    status: text,
    resourceId: maybe(ItemId)
  })
) {}

export class DriveItemVersion extends Schema.Opaque<DriveItemVersion>()(
  Schema.Struct({
    id: Schema.String,
    size: number,
    lastModifiedDateTime: text,
    lastModifiedBy: maybe(IdentitySet)
  })
) {}
