/** What tasks write has no value of a secret that they have read: a real service, a real worker, a robot in its own process. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Secrets from "@signalbox/api/Secrets"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import { zipOf } from "@signalbox/testkit/PackageZips"
import * as Robot from "@signalbox/worker/Robot"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { join } from "node:path"
import * as Embedded from "../../src/Embedded.ts"
import { temporaryFolder } from "../support/Cli.ts"
import * as Robots from "../support/Robots.ts"

const { folder, remove } = temporaryFolder("hidden")

const password = "correct horse/battery"
const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END KEY-----"

/** Reads the secret as the libraries of robots do, with a key of its own. */
const robot = `
import { constants, createDecipheriv, generateKeyPairSync, privateDecrypt } from "node:crypto"
import { writeFileSync } from "node:fs"
const e = process.env
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const query = new URLSearchParams({
  encryptionScheme: "robocloud-vault-transit-v2",
  publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64")
})
const read = (name) =>
  fetch(e.RC_API_SECRET_HOST + "/secrets-v1/workspaces/" + e.RC_WORKSPACE_ID + "/secrets/" + name + "?" + query, {
    headers: { authorization: "Bearer " + e.RC_API_SECRET_TOKEN }
  })
console.log("missing:", (await read("nothing")).status)
const { value, encryption } = await (await read("shop")).json()
const bytes = (text) => Buffer.from(text, "base64")
const padding = { key: privateKey, oaepHash: "sha256", padding: constants.RSA_PKCS1_OAEP_PADDING }
const iv = Buffer.from(bytes(encryption.iv).toString("hex"))
const decipher = createDecipheriv("aes-256-gcm", privateDecrypt(padding, bytes(encryption.encryptedAES)), iv)
decipher.setAuthTag(bytes(encryption.authTag))
const { key, password } = JSON.parse(decipher.update(bytes(value)).toString() + decipher.final().toString())
process.stdout.write("the password is " + password.slice(0, 5))
await new Promise((resolve) => setTimeout(resolve, 50))
process.stdout.write(password.slice(5) + ", " + encodeURIComponent(password) + "\\n")
console.error(key)
writeFileSync(e.ROBOT_ARTIFACTS + "/log.txt", "signed in with " + password + "\\n")
const run = "/workspaces/" + e.RC_WORKSPACE_ID + "/processes/" + e.RC_PROCESS_ID + "/runs/" + e.RC_PROCESS_RUN_ID
const released = await fetch(e.RC_API_PROCESS_HOST + "/process-v1" + run + "/robotRuns/" + e.RC_ACTIVITY_RUN_ID + "/release-work-item", {
  method: "POST",
  headers: { authorization: "Bearer " + e.RC_API_PROCESS_TOKEN, "content-type": "application/json" },
  body: JSON.stringify({
    workItemId: e.RC_WORKITEM_ID,
    state: "FAILED",
    exception: { type: "BUSINESS", code: "REFUSED", message: "refused: " + password }
  })
})
console.log("released:", released.status)
`

const inProcess = Task.make("in process", {
  input: Schema.Json,
  output: Schema.Json,
  run: Effect.fnUntraced(function* () {
    const secret = Redacted.value(yield* Robot.secretItem("shop", "password"))
    yield* Effect.logInfo(`the password is ${secret}`)
    yield* Robot.saveArtifact({ name: "log.txt", bytes: new TextEncoder().encode(`signed in with ${secret}\n`) })
    return yield* new Task.BusinessFailure({ code: "REFUSED", message: `refused: ${secret}` })
  })
})

const layer = Layer.unwrap(
  Effect.gen(function* () {
    yield* Effect.addFinalizer(() => Effect.sync(remove))
    return Embedded.layer({ data: join(folder, "data"), port: 0, workers: 1, tasks: [inProcess] })
  })
).pipe(Layer.provideMerge(NodeServices.layer), Layer.provide(Logger.layer([])))

const contentOf = Effect.fnUntraced(function* (stepRun: Effect.Success<ReturnType<typeof Robots.stepRuns>>[number]) {
  const artifact = stepRun.artifacts[0] ?? assert.fail("no artifact")
  return yield* Stream.mkString(Stream.decodeText(StepRuns.downloadArtifact(stepRun.id, artifact.id)))
})

const messageOf = Effect.fnUntraced(function* (run: Effect.Success<ReturnType<typeof Robots.start>>) {
  const [item] = yield* Stream.runCollect(WorkItems.stream({ processRun: run }))
  return item?.exception?.message
})

withLayer(layer, { excludeTestServices: true, timeout: "2 minutes" })("values of secrets", (it) => {
  const shop = Effect.cached(
    Secrets.put("shop", { items: { password: Redacted.make(password), key: Redacted.make(key) } })
  )
  const stored = Effect.flatten(shop)

  it.effect("that a robot has read are hidden in its lines, its artifacts and the exceptions of its items", () =>
    Effect.gen(function* () {
      yield* stored
      const zip = yield* zipOf({
        "robot.yaml": "tasks:\n  read:\n    command: [node, robot.mjs]\nartifactsDir: output\n",
        "robot.mjs": robot
      })
      const id = yield* Robots.upload("reader", zip)
      // A proxy does not come between the robot and its worker.
      const env = { HTTP_PROXY: "http://127.0.0.1:9", NODE_USE_ENV_PROXY: "1" }
      const { run, stepRun } = yield* Robots.runTask(id, "read", { env })
      assert.deepStrictEqual(stepRun.console.slice(-4).toSorted(), [
        "***",
        "missing: 404",
        "released: 200",
        "the password is ***, ***"
      ])
      assert.strictEqual(yield* contentOf(stepRun), "signed in with ***\n")
      assert.strictEqual(yield* messageOf(run.id), "refused: ***")
    })
  )

  it.effect("that a task has read are hidden there too", () =>
    Effect.gen(function* () {
      yield* stored
      const process = yield* Robots.process("in process", [{ name: "in process", task: { name: "in process" } }])
      const run = yield* Robots.start(process)
      yield* ProcessRuns.awaitEnd(run, { timeout: "30 seconds" })
      const [stepRun = assert.fail("no step run")] = yield* Robots.stepRuns(run)
      assert.include(stepRun.console, "INFO the password is ***")
      assert.strictEqual(yield* contentOf(stepRun), "signed in with ***\n")
      assert.strictEqual(yield* messageOf(run), "refused: ***")
    })
  )
})
