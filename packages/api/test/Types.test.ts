/** The error channel of a call has exactly the failures of its operation. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { describe, expectTypeOf, it } from "vitest"
import { ProcessRunId, WorkItemId } from "../src/contract/Ids.ts"
import type { ControlRoom } from "../src/ControlRoom.ts"
import type { Conflict, ControlRoomError, InvalidRequest, NotFound } from "../src/ControlRoomError.ts"
import type * as ApiKeys from "../src/ApiKeys.ts"
import type * as Assets from "../src/Assets.ts"
import type * as Assistants from "../src/Assistants.ts"
import type * as Files from "../src/Files.ts"
import type * as Secrets from "../src/Secrets.ts"
import type * as TaskPackages from "../src/TaskPackages.ts"
import type * as Webhooks from "../src/Webhooks.ts"
import type * as WorkerGroups from "../src/WorkerGroups.ts"
import * as Outputs from "../src/Outputs.ts"
import type { Jsonable, UnexpectedData } from "../src/Payload.ts"
import type * as Processes from "../src/Processes.ts"
import type * as ProcessRuns from "../src/ProcessRuns.ts"
import type { CallOptions, connect } from "../src/Promise.ts"
import type * as StepRuns from "../src/StepRuns.ts"
import type { UploadSourceError } from "../src/Upload.ts"
import type * as Workers from "../src/Workers.ts"
import * as WorkItems from "../src/WorkItems.ts"
import type * as Workspaces from "../src/Workspaces.ts"

type ErrorOf<T> =
  T extends Effect.Effect<infer _A, infer E, infer _R>
    ? E
    : T extends (
          ...args: never
        ) => Effect.Effect<infer _A, infer E, infer _R> | Stream.Stream<infer _A, infer E, infer _R>
      ? E
      : never

type RequirementOf<T> = T extends (
  ...args: never
) => Effect.Effect<infer _A, infer _E, infer R> | Stream.Stream<infer _A, infer _E, infer R>
  ? R
  : never

/** Shorthands: the failures of a call besides `ControlRoomError`. */
type Fails<T> = Exclude<ErrorOf<T>, ControlRoomError>

describe("the error channel", () => {
  it("of every call holds ControlRoomError", () => {
    expectTypeOf<ControlRoomError>().toExtend<ErrorOf<typeof WorkItems.get>>()
    expectTypeOf<ControlRoomError>().toExtend<ErrorOf<typeof Workspaces.get>>()
    expectTypeOf<ControlRoomError>().toExtend<ErrorOf<typeof Outputs.stream>>()
  })

  it("is exact", () => {
    expectTypeOf<Fails<typeof Workspaces.get>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Processes.get>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Processes.list>>().toEqualTypeOf<InvalidRequest>()
    expectTypeOf<Fails<typeof Processes.create>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof Processes.update>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof Processes.getDefinition>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof WorkItems.get>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof WorkItems.list>>().toEqualTypeOf<InvalidRequest>()
    expectTypeOf<Fails<typeof WorkItems.stream>>().toEqualTypeOf<InvalidRequest>()
    expectTypeOf<Fails<typeof WorkItems.create>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof WorkItems.createMany>>().toEqualTypeOf<
      InvalidRequest | NotFound | Conflict | WorkItems.PartlyCreated
    >()
    expectTypeOf<Fails<typeof WorkItems.attachFile>>().toEqualTypeOf<
      InvalidRequest | NotFound | Conflict | UploadSourceError
    >()
    expectTypeOf<Fails<typeof WorkItems.updatePayload>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof WorkItems.retry>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof ProcessRuns.get>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof ProcessRuns.start>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof ProcessRuns.stop>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof ProcessRuns.remove>>().toEqualTypeOf<NotFound | Conflict>()
    expectTypeOf<Fails<typeof ProcessRuns.awaitEnd>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof StepRuns.list>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof StepRuns.events>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof Outputs.stream>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof Workers.createLinkToken>>().toEqualTypeOf<InvalidRequest>()
    expectTypeOf<Fails<typeof Processes.remove>>().toEqualTypeOf<NotFound | Conflict>()
    expectTypeOf<Fails<typeof StepRuns.consoleMessages>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof StepRuns.artifacts>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof StepRuns.getArtifact>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof StepRuns.downloadArtifact>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Files.download>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Assets.get>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Assets.create>>().toEqualTypeOf<InvalidRequest | Conflict>()
    expectTypeOf<Fails<typeof Assets.upload>>().toEqualTypeOf<
      InvalidRequest | NotFound | Conflict | UploadSourceError | Assets.AssetUploadFailed
    >()
    expectTypeOf<Fails<typeof Assets.getUpload>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Assets.download>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Assets.remove>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Assistants.create>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof Assistants.startRun>>().toEqualTypeOf<NotFound | Conflict>()
    expectTypeOf<Fails<typeof Assistants.awaitRunEnd>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Assistants.completeRun>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof TaskPackages.create>>().toEqualTypeOf<InvalidRequest | Conflict>()
    expectTypeOf<Fails<typeof TaskPackages.configureGit>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof TaskPackages.upload>>().toEqualTypeOf<
      InvalidRequest | NotFound | Conflict | UploadSourceError
    >()
    expectTypeOf<Fails<typeof TaskPackages.download>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof TaskPackages.remove>>().toEqualTypeOf<NotFound | Conflict>()
    expectTypeOf<Fails<typeof Secrets.list>>().toEqualTypeOf<InvalidRequest>()
    expectTypeOf<Fails<typeof Secrets.create>>().toEqualTypeOf<InvalidRequest | Conflict>()
    expectTypeOf<Fails<typeof Secrets.update>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof Secrets.remove>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Webhooks.create>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof Webhooks.update>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof Webhooks.test>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Webhooks.deliveries>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof Webhooks.redeliver>>().toEqualTypeOf<NotFound | Conflict>()
    expectTypeOf<Fails<typeof WorkerGroups.create>>().toEqualTypeOf<InvalidRequest | Conflict>()
    expectTypeOf<Fails<typeof WorkerGroups.rename>>().toEqualTypeOf<InvalidRequest | NotFound | Conflict>()
    expectTypeOf<Fails<typeof WorkerGroups.remove>>().toEqualTypeOf<NotFound | Conflict>()
    expectTypeOf<Fails<typeof WorkerGroups.addWorker>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof WorkerGroups.removeWorker>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof WorkerGroups.linkTokens>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof Workers.get>>().toEqualTypeOf<NotFound>()
    expectTypeOf<Fails<typeof Workers.rename>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof Workers.queueDepth>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof Workers.remove>>().toEqualTypeOf<NotFound | Conflict>()
    expectTypeOf<Fails<typeof ApiKeys.create>>().toEqualTypeOf<InvalidRequest | NotFound>()
    expectTypeOf<Fails<typeof ApiKeys.remove>>().toEqualTypeOf<NotFound>()
  })
})

describe("the requirement", () => {
  it("is ControlRoom and nothing else", () => {
    expectTypeOf<RequirementOf<typeof WorkItems.attachFile>>().toEqualTypeOf<ControlRoom>()
    expectTypeOf<RequirementOf<typeof ProcessRuns.awaitEnd>>().toEqualTypeOf<ControlRoom>()
    expectTypeOf<RequirementOf<typeof Outputs.stream>>().toEqualTypeOf<ControlRoom>()
  })
})

describe("a payload", () => {
  interface Invoice {
    readonly number: string
    readonly total?: number
  }
  const Total = Schema.Struct({ total: Schema.Finite })
  type Total = typeof Total.Type

  it("that is written is any interface", () => {
    expectTypeOf<Invoice>().toExtend<Jsonable>()
    expectTypeOf<Invoice>().toExtend<WorkItems.NewWorkItem["payload"]>()
    expectTypeOf<ReadonlyArray<Invoice>>().toExtend<WorkItems.NewWorkItems["payloads"]>()
    expectTypeOf<{ readonly payloads: ReadonlyArray<Invoice> }>().toExtend<ProcessRuns.StartInput>()
    expectTypeOf<bigint | symbol | undefined>().not.toExtend<Jsonable>()
  })

  it("that is read has the type of the schema", () => {
    const one = WorkItems.get(WorkItemId.make("item"), { schema: Total })
    expectTypeOf<Effect.Success<typeof one>["payload"]>().toEqualTypeOf<Total>()
    expectTypeOf<Exclude<Effect.Error<typeof one>, ControlRoomError>>().toEqualTypeOf<
      NotFound | InvalidRequest | UnexpectedData
    >()
    const page = WorkItems.list({ state: "new", schema: Total })
    expectTypeOf<Effect.Success<typeof page>["data"][number]["payload"]>().toEqualTypeOf<Total>()
    const items = WorkItems.stream({ schema: Total })
    expectTypeOf<Stream.Success<typeof items>["payload"]>().toEqualTypeOf<Total>()
    const outputs = Outputs.stream(ProcessRunId.make("run"), { schema: Total })
    expectTypeOf<Stream.Success<typeof outputs>["payload"]>().toEqualTypeOf<Total>()
  })

  it("has none without a schema, and no further failure", () => {
    const one = WorkItems.get(WorkItemId.make("item"))
    expectTypeOf<Effect.Success<typeof one>>().toEqualTypeOf<WorkItems.WorkItem>()
    expectTypeOf<Effect.Error<typeof one>>().toEqualTypeOf<NotFound | ControlRoomError>()
  })
})

describe("the promise facade", () => {
  type Client = ReturnType<typeof connect>

  it("takes plain strings and returns promises and async iterables", () => {
    expectTypeOf<Client["workItems"]["get"]>().parameter(0).toEqualTypeOf<string>()
    expectTypeOf<Client["workItems"]["get"]>().returns.resolves.toHaveProperty("payload")
    expectTypeOf<ReturnType<Client["outputs"]["stream"]>>().toExtend<AsyncIterable<Outputs.Output>>()
    expectTypeOf<{ readonly total?: number }>().toExtend<
      NonNullable<Parameters<Client["workItems"]["create"]>[0]["payload"]>
    >()
    expectTypeOf<Client["workItems"]["list"]>().parameter(1).toEqualTypeOf<CallOptions | undefined>()
    expectTypeOf<Client["workspaces"]["get"]>().returns.resolves.toHaveProperty("organization")
  })
})
