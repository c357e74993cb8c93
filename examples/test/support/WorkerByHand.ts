/**
 * What a worker does with the tasks of task packages, by hand: leases each step run, starts the task in the folder of the
 * package with the environment that a worker gives, sends its console and its artifacts, and reports its end.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import { layer as connect, layerUploads } from "@signalbox/api/node"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import { Uploads } from "@signalbox/api/Upload"
import * as Workers from "@signalbox/api/Workers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Yaml from "effect/encoding/Yaml"
import * as Schema from "effect/Schema"
import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { delimiter, dirname, join, relative } from "node:path"

export interface Ready {
  readonly base_url: string
  readonly workspace_id: string
  readonly api_key: string
}

const Robot = Schema.Struct({ tasks: Schema.Record(Schema.String, Schema.Struct({ shell: Schema.String })) })

const commandOf = (folder: string, task: string): ReadonlyArray<string> => {
  const { tasks } = Schema.decodeUnknownSync(Robot)(Yaml.parse(readFileSync(join(folder, "robot.yaml"), "utf8")))
  return tasks[task]?.shell.split(" ") ?? []
}

/** With this Node first. */
export const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter)

interface Ended {
  readonly code: number | null
  readonly output: string
}

const execute = ([command = "", ...args]: ReadonlyArray<string>, cwd: string, env: Readonly<Record<string, string>>) =>
  Effect.callback<Ended>((resume) => {
    const child = spawn(command, args, { cwd, env: { PATH: path, ...env }, stdio: "pipe" })
    let output = ""
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.once("error", (error) => resume(Effect.die(error)))
    child.once("close", (code) => resume(Effect.succeed({ code, output })))
  })

const filesBelow = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .map((name) => join(folder, name))
        .filter((path) => statSync(path).isFile())
    : []

/** Runs with a client of the control room. */
export const inRoom = <A, E>(ready: Ready, effect: Effect.Effect<A, E, ControlRoom | HttpClient.HttpClient>) => {
  const { api_key, base_url, workspace_id } = ready
  const client = connect({
    baseUrl: base_url,
    workspaceId: WorkspaceId.make(workspace_id),
    apiKey: Redacted.make(api_key)
  })
  return Effect.runPromise(Effect.provide(effect, Layer.mergeAll(client, NodeHttpClient.layerUndici, layerUploads)))
}

/** Works until nothing waits for two seconds; gives what the tasks wrote and how they ended. */
export const workByHand = (ready: Ready, folder: string, scratch: string) =>
  Effect.gen(function* () {
    const origin = new URL(ready.base_url).origin
    const uploads = yield* Uploads
    const linkToken = Redacted.make((yield* Workers.createLinkToken()).link_token)
    const identity = yield* WorkerProtocol.link({ origin, linkToken, name: "by hand", tasks: [] })
    const protocol = yield* WorkerProtocol.make(origin, identity)
    const reports = yield* WorkerProtocol.makeReports(origin, identity)
    const ended: Array<Ended> = []
    for (;;) {
      const [lease] = yield* protocol.lease({ free: 1, tasks: [], packages: true, waitSeconds: 2 })
      if (lease === undefined) return ended
      yield* protocol.start(lease)
      const artifacts = join(scratch, lease.step_run_id)
      const host = (name: string) => ({ [`RC_API_${name}_HOST`]: origin, [`RC_API_${name}_TOKEN`]: lease.run_token })
      const end = yield* execute(commandOf(folder, lease.task.name), folder, {
        ...host("PROCESS"),
        ...host("WORKITEM"),
        ...host("SECRET"),
        RC_API_URL_V1: `${origin}/api/v1/`,
        RC_API_TOKEN_V1: lease.run_token,
        RC_WORKSPACE_ID: identity.workspaceId,
        RC_PROCESS_ID: lease.process_id,
        RC_PROCESS_RUN_ID: lease.process_run_id,
        RC_ACTIVITY_RUN_ID: lease.step_run_id,
        RC_WORKITEM_ID: lease.work_item_id,
        ROBOT_ARTIFACTS: artifacts,
        PYTHONDONTWRITEBYTECODE: "1",
        ...lease.env
      })
      ended.push(end)
      const timestamp = new Date().toISOString()
      const messages = end.output.trimEnd().split("\n")
      yield* reports.sendConsole(
        lease,
        0,
        messages.map((message) => ({ timestamp, message }))
      )
      for (const path of filesBelow(artifacts)) {
        yield* reports.uploadArtifact(lease, { ...(yield* uploads.openPath(path)), name: relative(artifacts, path) })
      }
      const message = `the task ended with the exit code ${end.code}`
      yield* protocol.finish(lease, end.code === 0 ? null : { code: "ROBOT_FAILURE", message })
    }
  })
