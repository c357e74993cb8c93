/**
 * Why a step run of a task package failed before, or besides, its task.
 */
import { stepRunErrorCodes } from "@signalbox/api/contract/StepRuns"
import * as Schema from "effect/Schema"

export class PackageFailure extends Schema.TaggedError<PackageFailure>()("PackageFailure", {
  code: Schema.Literals(stepRunErrorCodes),
  message: Schema.String
}) {}

/** An effect that cannot say more than that the machine failed it: a full disk, a missing permission. */
export const machine =
  (what: string) =>
  (error: { readonly message: string }): PackageFailure =>
    new PackageFailure({ code: "START_FAILURE", message: `${what}: ${error.message}` })
