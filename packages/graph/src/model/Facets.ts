/**
 * Facets: what an item of a drive is, and what is known of it because of that.
 */
import * as Schema from "effect/Schema"
import { IdentitySet, maybe } from "./Common.ts"

const text = maybe(Schema.String)
const number = maybe(Schema.Finite)
const flag = maybe(Schema.Boolean)

/** Bytes; `state`: `normal`, `nearing`, `critical`, `exceeded`. */
export class Quota extends Schema.Opaque<Quota>()(
  Schema.Struct({
    deleted: number,
    remaining: number,
    state: text,
    total: number,
    used: number,
    storagePlanInformation: maybe(Schema.Struct({ upgradeAvailable: flag }))
  })
) {}

export class Hashes extends Schema.Opaque<Hashes>()(
  Schema.Struct({ quickXorHash: text, sha1Hash: text, sha256Hash: text, crc32Hash: text })
) {}

export class FileFacet extends Schema.Opaque<FileFacet>()(
  Schema.Struct({ mimeType: text, hashes: maybe(Hashes), processingMetadata: flag })
) {}

export class FolderFacet extends Schema.Opaque<FolderFacet>()(
  Schema.Struct({
    childCount: number,
    view: maybe(Schema.Struct({ sortBy: text, sortOrder: text, viewType: text }))
  })
) {}

export class FileSystemInfo extends Schema.Opaque<FileSystemInfo>()(
  Schema.Struct({
    createdDateTime: text,
    lastAccessedDateTime: text,
    lastModifiedDateTime: text
  })
) {}

export class Image extends Schema.Opaque<Image>()(Schema.Struct({ height: number, width: number })) {}

export class Photo extends Schema.Opaque<Photo>()(
  Schema.Struct({
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
) {}

export class Audio extends Schema.Opaque<Audio>()(
  Schema.Struct({
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
) {}

export class Video extends Schema.Opaque<Video>()(
  Schema.Struct({
    bitrate: number,
    duration: number,
    fourCC: text,
    frameRate: number,
    height: number,
    width: number
  })
) {}

export class Shared extends Schema.Opaque<Shared>()(
  Schema.Struct({
    owner: maybe(IdentitySet),
    scope: text,
    sharedBy: maybe(IdentitySet),
    sharedDateTime: text
  })
) {}

export class SpecialFolder extends Schema.Opaque<SpecialFolder>()(Schema.Struct({ name: text })) {}

export class Package extends Schema.Opaque<Package>()(Schema.Struct({ type: text })) {}

/** A picture. Whoever has its address may see it. */
export class Thumbnail extends Schema.Opaque<Thumbnail>()(
  Schema.Struct({
    url: Schema.optionalKey(Schema.RedactedFromValue(Schema.String)),
    height: number,
    width: number
  })
) {}

/** Pictures of one page or one view, by size. */
export class ThumbnailSet extends Schema.Opaque<ThumbnailSet>()(
  Schema.Struct({
    id: Schema.String,
    small: maybe(Thumbnail),
    medium: maybe(Thumbnail),
    large: maybe(Thumbnail),
    source: maybe(Thumbnail)
  })
) {}
