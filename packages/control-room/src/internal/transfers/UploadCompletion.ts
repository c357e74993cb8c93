/**
 * Completes uploads: commits the blob, then writes the row that refers to it if its owner still accepts it.
 */
import { StepRunId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as TaskPackage from "@signalbox/task-package/TaskPackage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type { Staged, StagedFile } from "../../BlobStore.ts"
import * as BlobCommit from "../blobs/BlobCommit.ts"
import { maxFilesPerItem, tooManyFiles } from "../settings/Limits.ts"
import { Refused } from "../engine/Refused.ts"
import { Assets } from "../store/files/Assets.ts"
import { AuditEntries } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"
import { Outputs } from "../store/items/Outputs.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import { PackageVersions } from "../store/packages/PackageVersions.ts"
import { WorkItems } from "../store/items/WorkItems.ts"
import type { UploadPolicy } from "./UploadPolicy.ts"

const refuse = (code: Refused["code"], message: string) => Effect.fail(new Refused({ code, message }))

export class UploadCompletion extends Context.Service<
  UploadCompletion,
  {
    /** Completes the upload of a file of a work item, or of an artifact of a step run. */
    readonly file: (policy: UploadPolicy, file: Staged) => Effect.Effect<void, Refused>
    /** Completes the upload of the zip of a task package. */
    readonly taskPackage: (policy: UploadPolicy, file: StagedFile) => Effect.Effect<void, Refused>
    /** Completes the upload of the content of an asset. */
    readonly asset: (workspace: WorkspaceId, upload: string, content: Staged) => Effect.Effect<void, Refused>
  }
>()("@signalbox/control-room/transfers/UploadCompletion") {
  static readonly layer = Layer.effect(
    UploadCompletion,
    Effect.gen(function* () {
      const commitBlob = yield* BlobCommit.make
      const fs = yield* FileSystem.FileSystem
      const files = yield* Files
      const items = yield* WorkItems
      const outputs = yield* Outputs
      const runs = yield* ProcessRuns
      const stepRuns = yield* StepRuns
      const assets = yield* Assets
      const audit = yield* AuditEntries
      const versions = yield* PackageVersions
      const { transaction } = yield* Database

      /** Whether the owner may still get the file: its state may have changed during the upload. */
      const checkOwner = Effect.fnUntraced(function* (policy: UploadPolicy) {
        const item = yield* items.get(policy.workspace, policy.owner)
        const maker = policy.step_run === null ? null : yield* stepRuns.find(policy.step_run)
        const run = item?.processRunId ?? maker?.processRunId
        const isGone = run !== undefined && (yield* runs.lock(run)) === null
        const now = yield* items.lock(policy.workspace, policy.owner)
        if (policy.step_run === null) {
          if (now === null || isGone)
            return yield* refuse("NOT_FOUND", `the work item ${policy.owner} no longer exists`)
          const free =
            now.state === "new" || now.state === "failed" || (now.state === "pending" && now.stepRun === null)
          return free
            ? undefined
            : yield* refuse("CONFLICT", `the work item is ${now.state} now; its files can no longer change`)
        }
        const stepRun = yield* stepRuns.find(policy.step_run)
        const isReserved = now !== null && now.state === "in_progress" && now.stepRun === policy.step_run
        const open = isReserved || (yield* outputs.open(policy.owner))?.stepRunId === policy.step_run
        if (stepRun?.state !== "in_progress" || !open) {
          return yield* refuse("LEASE_LOST", "the step run has ended or released the work item; stop the task")
        }
      })

      const file = Effect.fnUntraced(function* (policy: UploadPolicy, blob: string) {
        yield* checkOwner(policy)
        if ((yield* files.countOthers(policy.owner, policy.name)) >= maxFilesPerItem) {
          return yield* refuse("CONFLICT", tooManyFiles)
        }
        const { name, owner, size, workspace } = policy
        return yield* files.putNew(workspace, { ownerId: owner, name, size, blob })
      }, transaction)

      const artifact = Effect.fnUntraced(function* (policy: UploadPolicy, blob: string) {
        const id = StepRunId.make(policy.owner)
        const known = yield* stepRuns.find(id)
        const run = known === null ? null : yield* runs.lock(known.processRunId)
        const stepRun = yield* stepRuns.lock(id)
        if (run === null || stepRun?.state !== "in_progress") {
          return yield* refuse("LEASE_LOST", "the step run has ended; its artifacts can no longer change")
        }
        yield* stepRuns.addEvents([{ stepRun: id, type: "ARTIFACT_ADDED", item: null }])
        const { name, size, workspace } = policy
        return yield* files.putNew(workspace, { ownerId: id, name, size, blob })
      }, transaction)

      return UploadCompletion.of({
        file: (policy, staged) =>
          commitBlob(staged, (blob) => (policy.kind === "artifact" ? artifact(policy, blob) : file(policy, blob))),
        taskPackage: Effect.fnUntraced(function* (policy, staged) {
          const found = yield* TaskPackage.inspect(staged.path).pipe(
            Effect.provideService(FileSystem.FileSystem, fs),
            Effect.catchTag("PlatformError", Effect.die),
            Effect.mapError(({ message }) => {
              return new Refused({ code: "INVALID_REQUEST", message: `file: ${message}; nothing was stored` })
            })
          )
          const { by = null, note = null, owner, workspace } = policy
          // The form says who asked for it: the upload itself has no key.
          const entry = audit.write({
            workspaceId: workspace,
            actor: { type: "api_key", id: by === null ? null : by.id },
            action: "uploadTaskPackage",
            resource: { type: "task_package", id: owner, name: null },
            before: null,
            after: { digest: found.digest, size: staged.size, note }
          })
          return yield* commitBlob(staged, (blob) => {
            const content = { ...found, size: staged.size, blob }
            const put = versions.put(workspace, owner, { type: "zip", content, by, note, how: "asked" })
            return transaction(Effect.tap(put, () => entry))
          })
        }),
        asset: (workspace, upload, content) =>
          commitBlob(content, (blob) => assets.complete(workspace, upload, { size: content.size, blob }))
      })
    })
  )
}
