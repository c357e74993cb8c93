/** Why a step run of a task package failed before or after its task. */
import { TaggedError } from "@signalbox/transport/Printed"
import { stepRunErrorCodes } from "@signalbox/api/contract/StepRuns"
import * as Schema from "effect/Schema"

export class PackageFailure extends TaggedError<PackageFailure>()("PackageFailure", {
  code: Schema.Literals(stepRunErrorCodes),
  message: Schema.String
}) {}

/** Wraps a failure of the machine, such as a full disk or a missing permission. */
export const machine =
  (what: string) =>
  (error: { readonly message: string }): PackageFailure =>
    new PackageFailure({ code: "START_FAILURE", message: `${what}: ${error.message}` })
