/**
 * The errors of the client with promises: a class for each kind, all of them `GraphRequestError`. The Effect form has tagged
 * reasons instead; its error is the `cause` of these.
 */
import type { FolderReport } from "../files/FolderDownload.ts"
import type { UploadFolderReport } from "../files/FolderUpload.ts"

/** What an error says; what is left out is null, and 0 attempts. */
export interface ErrorFields {
  readonly message: string
  readonly operation: string
  readonly status?: number | null | undefined
  readonly code?: string | null | undefined
  readonly requestId?: string | null | undefined
  readonly clientRequestId?: string | null | undefined
  readonly attempts?: number | undefined
  readonly retryAfterMillis?: number | null | undefined
  readonly cause?: unknown
}

/** A call failed. Each kind is a class of its own. */
export abstract class GraphRequestError extends Error {
  /** The name of the class. */
  abstract readonly _tag: string
  /** The status of the response; null where there was none. */
  readonly status: number | null
  /** The deepest code of the service, such as `itemNotFound`; null where it gave none. */
  readonly code: string | null
  /** What the service calls the request in its logs. */
  readonly requestId: string | null
  /** What this client called it. */
  readonly clientRequestId: string | null
  /** How often the request was sent; 0: not at all. */
  readonly attempts: number
  /** When the service will accept the call again, in milliseconds; null where it did not say. */
  readonly retryAfterMillis: number | null
  /** The function that was called, such as `drives.item`. */
  readonly operation: string

  constructor(fields: ErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.status = fields.status ?? null
    this.code = fields.code ?? null
    this.requestId = fields.requestId ?? null
    this.clientRequestId = fields.clientRequestId ?? null
    this.attempts = fields.attempts ?? 0
    this.retryAfterMillis = fields.retryAfterMillis ?? null
    this.operation = fields.operation
  }
}

/** A kind of error, whose name is its tag. */
const kind = <Tag extends string>(
  tag: Tag
): new (fields: ErrorFields) => GraphRequestError & { readonly _tag: Tag; readonly name: Tag } =>
  class extends GraphRequestError {
    override readonly name = tag
    readonly _tag = tag
  }

/** 404: there is no such thing, or it may not be seen. */
export class NotFound extends kind("NotFound") {}
/** 410: it was there; of a delta: start over. */
export class Gone extends kind("Gone") {}
/** 409: an item of this name is there. */
export class NameAlreadyExists extends kind("NameAlreadyExists") {}
/** 409: the state of the resource does not allow this. */
export class Conflict extends kind("Conflict") {}
/** 412: the resource changed since its `eTag` was read. */
export class PreconditionFailed extends kind("PreconditionFailed") {}
/** 423: the resource is locked, for example open in an editor. */
export class Locked extends kind("Locked") {}
/** 416: the range is not there, or was received already. */
export class InvalidRange extends kind("InvalidRange") {}
/** 507: no storage is left. */
export class QuotaExceeded extends kind("QuotaExceeded") {}
/** 400 and the like, or refused before it was sent: the message names what is wrong. */
export class InvalidRequest extends kind("InvalidRequest") {}
/** 401, or there is no token to be had: the message says what to do. */
export class Unauthenticated extends kind("Unauthenticated") {}
/** 403: the account or the app lacks a permission. */
export class Forbidden extends kind("Forbidden") {}
/** 429 or 509 after the last attempt. */
export class Throttled extends kind("Throttled") {}
/** 500, 502, 503 or 504 after the last attempt. */
export class Unavailable extends kind("Unavailable") {}
/** No whole answer within the time of the policy, or of the call. */
export class Timeout extends kind("Timeout") {}
/** No answer at all. */
export class Unreachable extends kind("Unreachable") {}
/** The answer is not what the service documents. */
export class Malformed extends kind("Malformed") {}
/** The session of a workbook has ended. Changes that it did not save are gone. */
export class SessionLost extends kind("SessionLost") {}
/**
 * Of a call in a batch, and of one of a workbook that cannot be repeated: it was sent and no answer came. Look whether it was done
 * before you send it again.
 */
export class OutcomeUnknown extends kind("OutcomeUnknown") {}
/** Of a call in a batch, or a mail with large attachments: it was not sent, since what came before it failed. Send it again. */
export class NotSent extends kind("NotSent") {}
/** Any other status. */
export class Unexpected extends kind("Unexpected") {}
/** The item has no contents to download: a folder, a notebook, or something that was deleted. */
export class NotAFile extends kind("NotAFile") {}
/** The item is no folder. */
export class NotAFolder extends kind("NotAFolder") {}
/** What arrived differs from what was sent, in size or hash. */
export class Mismatch extends kind("Mismatch") {}
/** The file changed while it was being downloaded, or the local one while it was being uploaded. */
export class Changed extends kind("Changed") {}
/** The file is as `ifNoneMatch` says: there is nothing new to download. */
export class NotModified extends kind("NotModified") {}
/** The source of an upload failed, or is not as long as was said. */
export class SourceFailed extends kind("SourceFailed") {}
/** A local file or folder could not be read or written. */
export class LocalFailed extends kind("LocalFailed") {}
/** The service lost the upload more often than it is worth to start again. */
export class UploadLost extends kind("UploadLost") {}
/** A job of the service (a copy) failed. */
export class JobFailed extends kind("JobFailed") {}
/** The client was closed before the call, or while it was active. */
export class Closed extends kind("Closed") {}

/** Not all of a folder came; `report` says what did and what did not. */
export class FolderIncomplete extends kind("FolderIncomplete") {
  readonly report: FolderReport

  constructor(fields: ErrorFields & { readonly report: FolderReport }) {
    super(fields)
    this.report = fields.report
  }
}

/** Not all of a folder was uploaded; `report` says what was and what was not. */
export class UploadFolderIncomplete extends kind("UploadFolderIncomplete") {
  readonly report: UploadFolderReport

  constructor(fields: ErrorFields & { readonly report: UploadFolderReport }) {
    super(fields)
    this.report = fields.report
  }
}

/** The service does not take names of a local folder; nothing was sent. `path`: below the folder. */
export class NamesRefused extends kind("NamesRefused") {
  readonly names: ReadonlyArray<{ readonly path: string; readonly why: string }>

  constructor(fields: ErrorFields & Pick<NamesRefused, "names">) {
    super(fields)
    this.names = fields.names
  }
}

/** Some rows were added to a table, and then a request failed. */
export class RowsPartlyAdded extends kind("RowsPartlyAdded") {
  /** How many are there, from the first on. */
  readonly added: number
  /** How many may be there besides; 0: the service refused the request. */
  readonly unknown: number

  constructor(fields: ErrorFields & Pick<RowsPartlyAdded, "added" | "unknown">) {
    super(fields)
    this.added = fields.added
    this.unknown = fields.unknown
  }
}

/** A row of a table does not fit the `schema`. */
export class UnexpectedRow extends kind("UnexpectedRow") {
  readonly index: number
  /** The header of the column that does not fit. */
  readonly path: string
  readonly expected: string

  constructor(fields: ErrorFields & Pick<UnexpectedRow, "index" | "path" | "expected">) {
    super(fields)
    this.index = fields.index
    this.path = fields.path
    this.expected = fields.expected
  }
}

/** The fields of an item do not fit the `schema` of the call: `id` is that of the item, `path` where its fields do not fit. */
export class UnexpectedFields extends kind("UnexpectedFields") {
  readonly id: string
  readonly path: string
  /** What was expected there. */
  readonly expected: string

  constructor(fields: ErrorFields & Pick<UnexpectedFields, "id" | "path" | "expected">) {
    super(fields)
    this.id = fields.id
    this.path = fields.path
    this.expected = fields.expected
  }
}
