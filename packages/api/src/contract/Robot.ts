/**
 * The robot side: what a task uses while its step run is in progress, with the run's token as the bearer. Names and
 * spellings are those of existing robots (camelCase).
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, inEvents } from "./Auditing.ts"
import { TokenAuthorization } from "./Authorization.ts"
import { ExtensionKeys } from "./Documentation.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Robot.ts"

export * from "../internal/endpoints/Robot.ts"

/**
 * Reserves the next waiting item of the step; null when none waits. Returns the item that is already reserved, if any.
 */
export const reserveNext: EndpointOf<typeof declared.reserveNext> = endpoint(
  declared.reserveNext,
  "Reserve the next work item of the step"
).annotate(Audited, inEvents)

/** Releases the reserved item. Repeating it with the same result changes nothing. */
export const release: EndpointOf<typeof declared.release> = endpoint(declared.release, "Settle the reserved work item")
  .annotate(ExtensionKeys, ["dropOutputs"])
  .annotate(Audited, inEvents)

/** Creates an output of the reserved item. */
export const createOutput: EndpointOf<typeof declared.createOutput> = endpoint(
  declared.createOutput,
  "Create an output of the reserved work item"
).annotate(Audited, inEvents)

/** `/process-v1/workspaces/{w}/processes/{p}`. */
export const RobotProcess: Group<
  "robotProcess",
  typeof reserveNext | typeof release | typeof createOutput,
  TokenAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("robotProcess")
  .add(reserveNext, release, createOutput)
  .middleware(TokenAuthorization)

/** A work item without a payload is a 404, which robot libraries read as an empty payload. */
export const getData: EndpointOf<typeof declared.getData> = endpoint(declared.getData, "Get the payload of a work item")

export const listFiles: EndpointOf<typeof declared.listFiles> = endpoint(
  declared.listFiles,
  "List the files of a work item"
)

export const getFile: EndpointOf<typeof declared.getFile> = endpoint(declared.getFile, "Get where a file is downloaded")

export const createFile: EndpointOf<typeof declared.createFile> = endpoint(
  declared.createFile,
  "Get the form with which a file is uploaded"
).annotate(Audited, inEvents)

/** Replaces the payload of the reserved item, or of an output of it. */
export const putData: EndpointOf<typeof declared.putData> = endpoint(
  declared.putData,
  "Replace the payload of a work item"
).annotate(Audited, inEvents)

export const removeFile: EndpointOf<typeof declared.removeFile> = endpoint(
  declared.removeFile,
  "Delete a file of a work item"
).annotate(Audited, inEvents)

/** `/json-v1/workspaces/{w}/workitems/{id}`. */
export const RobotData: Group<
  "robotData",
  typeof getData | typeof listFiles | typeof getFile | typeof createFile | typeof putData | typeof removeFile,
  TokenAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("robotData")
  .add(getData, listFiles, getFile, createFile, putData, removeFile)
  .middleware(TokenAuthorization)
