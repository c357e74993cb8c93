/**
 * What a signed upload form allows.
 */
import { StepRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { PackageAuthor } from "@signalbox/api/contract/TaskPackageVersions"
import * as Schema from "effect/Schema"

export const UploadPolicy = Schema.Struct({
  /** A file of a work item or output, an artifact of a step run, or the zip of a task package. */
  kind: Schema.Literals(["file", "artifact", "package"]),
  workspace: WorkspaceId,
  /** The work item, output, step run or task package that owns the file. */
  owner: Schema.String,
  /** The step run that writes it; null: the holder of a workspace key. */
  step_run: Schema.NullOr(StepRunId),
  name: Schema.String,
  /** In bytes: the maximum for a package, else the exact size. */
  size: Schema.Finite,
  /** Who asked for the form, and why, of a package. */
  by: Schema.optionalKey(PackageAuthor),
  note: Schema.optionalKey(Schema.String),
  expires: Schema.Finite
})
export interface UploadPolicy extends Schema.Schema.Type<typeof UploadPolicy> {}

/** Parses the JSON of a form's policy; none when it is invalid. */
export const parse = Schema.decodeUnknownOption(Schema.fromJsonString(UploadPolicy))
