/** The interface of robots. */
import type { RobotData, RobotProcess } from "../../contract/Robot.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, largePayload } from "./Phrases.ts"

const ended = "`LEASE_LOST`: the step run of the token has ended. Stop the task."
const notReserved = `The item is neither reserved by this step run nor an output of the reserved one. Or ${ended}`
const noItem = "The run of this step run has no such work item."
const noStepRun = "The token is not of this step run, run or process."
const of = { work_item_id: ids.leasedItem }

export const robotProcess: Documented<typeof RobotProcess> = {
  reserveNextWorkItem: {
    description:
      "Reserves the next waiting item of the step, by priority and age; `workItemId` is null when none waits. While an item is reserved, it returns that item again, so that it is safe to repeat.",
    response: { workItemId: ids.secondItem },
    errors: { 404: noStepRun, 409: ended }
  },
  releaseWorkItem: {
    description:
      "Settles the reserved item: `COMPLETED`, or `FAILED` with its exception. `BUSINESS` exceptions are never retried, `APPLICATION` ones as the step says. Outputs are passed on when the step run ends; with `dropOutputs` those of a failed item are dropped. Repeating it with the same result changes nothing.",
    request: {
      workItemId: ids.secondItem,
      state: "FAILED",
      exception: { type: "BUSINESS", code: "NO_AMOUNT", message: "the invoice 4712 has no amount" }
    },
    response: {},
    errors: {
      400: badBody,
      404: noStepRun,
      409: `The item is not reserved by this step run, or was released with another result. Or ${ended}`
    }
  },
  createOutput: {
    description:
      "Creates an output of the reserved item. When the step run ends it becomes an item of the next step, or after the last step an output of the run. Each call creates another one.",
    parameters: of,
    request: { payload: { invoice: 4711, total: 120.5 } },
    response: { id: ids.output },
    errors: { 400: badBody, 404: noItem, 409: notReserved, 413: largePayload }
  }
}

export const robotData: Documented<typeof RobotData> = {
  getWorkItemData: {
    description:
      "Returns the payload of an item of the step run, or of its outputs. An item without a payload is a 404, which robot libraries read as an empty payload.",
    parameters: of,
    response: { invoice: 4711 },
    errors: { 404: `${noItem} Or it has no payload.`, 409: ended }
  },
  listWorkItemFiles: {
    description: "Returns the files of an item, at most 100.",
    parameters: of,
    response: [{ fileId: ids.file, fileName: "receipt.txt", fileSize: 7 }],
    errors: { 404: noItem, 409: ended }
  },
  getWorkItemFile: {
    description: "Returns the address where a file is downloaded. It needs no key and is valid for one hour.",
    parameters: of,
    response: {
      url: "https://robots.example.com/transfer/v1/files/019aa0b2-5c00-7000-8000-0000000000d7/receipt.txt?expires=1795166130&signature=tx7vapMqK"
    },
    errors: { 404: `${noItem} Or the item has no such file.`, 409: ended }
  },
  createRobotFile: {
    description:
      "Returns the form with which a file is uploaded to the reserved item or one of its outputs: a multipart `POST` to `url` without authorization, with all of `fields` first and the part `file` last. A file of the same name is replaced. An item has at most 100 files of at most 1 GiB each.",
    parameters: of,
    request: { fileName: "receipt.txt", fileSize: 7 },
    response: {
      url: "https://robots.example.com/transfer/v1/uploads",
      fields: { policy: "eyJraW5kIjoiZmlsZSJ9", signature: "tx7vapMqK" }
    },
    errors: {
      400: badBody,
      404: noItem,
      409: `${notReserved} Or the item has 100 files.`,
      413: "`fileSize` is larger than 1 GiB."
    }
  },
  putWorkItemData: {
    description:
      "Replaces the payload of the reserved item, or of an output of it, with any JSON. Repeating it changes nothing.",
    parameters: of,
    request: { invoice: 4711, read: true },
    response: {},
    errors: { 400: "The body is not JSON. Nothing was changed.", 404: noItem, 409: notReserved, 413: largePayload }
  },
  deleteWorkItemFile: {
    description: "Deletes a file of the reserved item, or of an output of it. Irreversible.",
    parameters: of,
    response: {},
    errors: { 404: `${noItem} Or the item has no such file.`, 409: notReserved }
  }
}
