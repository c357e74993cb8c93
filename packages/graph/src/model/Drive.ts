/**
 * Drives, and the files and folders in them. What an item is, its facets say: `file`, `folder`, `package`, `deleted`.
 */
import * as Schema from "effect/Schema"
import { base, DriveId, IdentitySet, ItemId, ItemReference, maybe, SharepointIds } from "./Common.ts"

const text = maybe(Schema.String)
const number = maybe(Schema.Finite)
const flag = maybe(Schema.Boolean)
const empty = Schema.Struct({})

/** Bytes; `state`: `normal`, `nearing`, `critical`, `exceeded`. */
export const Quota = Schema.Struct({
  deleted: number,
  remaining: number,
  state: text,
  total: number,
  used: number,
  storagePlanInformation: maybe(Schema.Struct({ upgradeAvailable: flag }))
})

export const Drive = Schema.Struct({
  ...base,
  id: DriveId,
  /** `personal`, `business` or `documentLibrary`. */
  driveType: text,
  owner: maybe(IdentitySet),
  quota: maybe(Quota),
  sharePointIds: maybe(SharepointIds),
  system: maybe(empty)
})
export interface Drive extends Schema.Schema.Type<typeof Drive> {}

export const Hashes = Schema.Struct({ quickXorHash: text, sha1Hash: text, sha256Hash: text, crc32Hash: text })

export const FileFacet = Schema.Struct({ mimeType: text, hashes: maybe(Hashes), processingMetadata: flag })

export const FolderFacet = Schema.Struct({
  childCount: number,
  view: maybe(Schema.Struct({ sortBy: text, sortOrder: text, viewType: text }))
})

export const FileSystemInfo = Schema.Struct({
  createdDateTime: text,
  lastAccessedDateTime: text,
  lastModifiedDateTime: text
})

export const Image = Schema.Struct({ height: number, width: number })

export const Photo = Schema.Struct({
  cameraMake: text,
  cameraModel: text,
  exposureDenominator: number,
  exposureNumerator: number,
  fNumber: number,
  focalLength: number,
  iso: number,
  orientation: number,
  takenDateTime: text
})

export const Audio = Schema.Struct({
  album: text,
  albumArtist: text,
  artist: text,
  bitrate: number,
  duration: number,
  genre: text,
  title: text,
  track: number,
  year: number
})

export const Video = Schema.Struct({
  bitrate: number,
  duration: number,
  fourCC: text,
  frameRate: number,
  height: number,
  width: number
})

export const Shared = Schema.Struct({
  owner: maybe(IdentitySet),
  scope: text,
  sharedBy: maybe(IdentitySet),
  sharedDateTime: text
})

export const SpecialFolder = Schema.Struct({ name: text })
export const Package = Schema.Struct({ type: text })

/** An item of another drive, as it shows in this one. */
export const RemoteItem = Schema.Struct({
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
export interface RemoteItem extends Schema.Schema.Type<typeof RemoteItem> {}

export const DriveItem = Schema.Struct({
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
export interface DriveItem extends Schema.Schema.Type<typeof DriveItem> {}

/** An upload in progress. Whoever has its address may write to it. */
export const UploadSession = Schema.Struct({
  uploadUrl: Schema.RedactedFromValue(Schema.String),
  expirationDateTime: text,
  nextExpectedRanges: maybe(Schema.Array(Schema.String))
})
export interface UploadSession extends Schema.Schema.Type<typeof UploadSession> {}

/** How far an upload is: the ranges that are still missing, as `"5242880-"` or `"0-99"`. */
export const UploadStatus = Schema.Struct({
  expirationDateTime: text,
  nextExpectedRanges: maybe(Schema.Array(Schema.String))
})
export interface UploadStatus extends Schema.Schema.Type<typeof UploadStatus> {}

/** How far a job (a copy) is. `status`: `notStarted`, `inProgress`, `waiting`, `completed`, `failed` and others. */
export const JobStatus = Schema.Struct({
  operation: text,
  percentageComplete: number,
  status: text,
  resourceId: maybe(ItemId)
})
export interface JobStatus extends Schema.Schema.Type<typeof JobStatus> {}

export const DriveItemVersion = Schema.Struct({
  id: Schema.String,
  size: number,
  lastModifiedDateTime: text,
  lastModifiedBy: maybe(IdentitySet)
})
export interface DriveItemVersion extends Schema.Schema.Type<typeof DriveItemVersion> {}
