/** The failures of a robot, besides those that task code declares itself. */
import { TaggedError } from "@signalbox/transport/Printed"
import type { AssetUploadFailed } from "@signalbox/api/Assets"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { VaultError } from "@signalbox/api/robot/Vault"
import type { UploadSourceError } from "@signalbox/api/Upload"
import * as Schema from "effect/Schema"
import type { LeaseLost } from "./internal/outcome/LeaseLost.ts"

export { LeaseLost } from "./internal/outcome/LeaseLost.ts"

/** A local file that replaces a service cannot be read or written. */
export class LocalFileError extends TaggedError<LocalFileError>()("LocalFileError", {
  path: Schema.String,
  message: Schema.String
}) {}

/** The secret, or the item in it, does not exist; the message lists the names of the items, never values. */
export class SecretMissing extends TaggedError<SecretMissing>()("SecretMissing", {
  secret: Schema.String,
  message: Schema.String
}) {}

/** The asset does not exist. */
export class AssetMissing extends TaggedError<AssetMissing>()("AssetMissing", {
  asset: Schema.String,
  message: Schema.String
}) {}

/**
 * The content is not JSON, or does not have the shape that the task expects. The message names the field, never the
 * value.
 */
export class UnexpectedContent extends TaggedError<UnexpectedContent>()("UnexpectedContent", {
  name: Schema.String,
  message: Schema.String
}) {}

/**
 * A payload or an output has a number that JavaScript rounded when the item was read, so that saving it would store
 * another one. The message names its path.
 */
export class NumberRounded extends TaggedError<NumberRounded>()("NumberRounded", { message: Schema.String }) {}

/** The environment does not define where the robot's items, secrets or assets are; the message names the variables. */
export class RobotNotConfigured extends TaggedError<RobotNotConfigured>()("RobotNotConfigured", {
  message: Schema.String
}) {}

/**
 * The service refused or could not be reached, the step run has ended (`LeaseLost`), a local file failed, or the source
 * of an upload could not be read; or a number that was rounded would be saved.
 */
export type RobotError =
  | CallError
  | LeaseLost
  | LocalFileError
  | VaultError
  | UploadSourceError
  | AssetUploadFailed
  | NumberRounded
