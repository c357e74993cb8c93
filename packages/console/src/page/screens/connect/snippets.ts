/** What is pasted elsewhere: the address and the workspace are filled in, a key never is. */

export type System = "posix" | "windows"

export interface Place {
  readonly address: string
  readonly workspace: string
  /** The name of the connection. */
  readonly context: string
}

/** Whether only this machine reaches the address. */
export const isOnlyHere = (address: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(address).hostname)

/** Starts a worker with a token. */
export const startCommand = (system: System, address: string, token: string): string =>
  system === "posix"
    ? `SIGNALBOX_LINK_TOKEN=${token} \\\n  npx signalbox worker start --url ${address}`
    : `$env:SIGNALBOX_LINK_TOKEN = "${token}"\nnpx signalbox worker start --url ${address}`

/** A name for a connection out of that of the workspace. */
export const contextOf = (workspace: string): string =>
  workspace
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "") || "room"

export const loginCommand = ({ address, context, workspace }: Place): string =>
  `npm install -g signalbox
signalbox login ${context} --url ${address} --workspace ${workspace}
signalbox runs list --context ${context}`

/** `process`: the id of the process to start. */
export const curlCommand = ({ address, workspace }: Place, process: string): string =>
  `SIGNALBOX_API_KEY='paste a key here'
WORKSPACE=${address}/api/v1/workspaces/${workspace}

curl -H "Authorization: RC-WSKEY $SIGNALBOX_API_KEY" $WORKSPACE/process-runs

curl -X POST -H "Authorization: RC-WSKEY $SIGNALBOX_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"type": "with_payloads", "payloads": [{"day": 1}]}' \\
  $WORKSPACE/processes/${process}/process-runs`

export const clientProgram = ({ address, workspace }: Place, process: string): string =>
  `import { connect } from "@signalbox/api/promise"

const room = connect({
  baseUrl: "${address}",
  apiKey: process.env.SIGNALBOX_API_KEY ?? "",
  workspaceId: "${workspace}"
})
const id = "${process}"
const item = await room.workItems.create({ process: id, payload: { day: 1 } })
const run = await room.processRuns.start(id, { workItems: [item.id] })
if (run.started) {
  await room.processRuns.awaitEnd(run.id)
  for await (const { payload } of room.outputs.stream(run.id)) console.log(payload)
}
await room.close()`

export const robotFiles = {
  "robot.yaml": `tasks:
  Invoice:
    shell: python -m robocorp.tasks run tasks.py -t invoice
condaConfigFile: conda.yaml
artifactsDir: output
PYTHONPATH: [.]`,
  "conda.yaml": `channels: [conda-forge]
dependencies:
  - python=3.11
  - pip:
      - robocorp-tasks
      - robocorp-workitems`,
  "tasks.py": `from robocorp import workitems
from robocorp.tasks import task


@task
def invoice():
    for item in workitems.inputs:
        with item:
            print(item.payload)
            workitems.outputs.create({"done": True})`
} as const

export const robotCommand = ({ context }: Place): string =>
  `signalbox packages create invoices . --context ${context}
signalbox processes create invoices --task Invoice --package invoices --context ${context}
signalbox run invoices --payload '{"day": 1}' --wait --context ${context}`
