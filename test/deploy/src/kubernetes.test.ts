import { Ajv } from "ajv"
import assert from "node:assert/strict"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "node:test"
import { parse, stringify } from "yaml"
import { digestOf, examples, folder, hasHelm, objectsOf, rendered } from "./Chart.ts"
import { documentsOf, filesIn, missing, root, run, textOf } from "./Files.ts"
import { problemsOf } from "./Manifests.ts"

const noHelm = hasHelm ? false : "this machine has no Helm; the manifests of deploy/kubernetes are what it has rendered"

interface Container {
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean; readonly allowPrivilegeEscalation: boolean }
  readonly volumeMounts: ReadonlyArray<{ readonly name: string }>
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string } } | undefined
}
interface Pod {
  readonly securityContext: { readonly runAsNonRoot: boolean }
  readonly containers: ReadonlyArray<Container>
  readonly volumes: ReadonlyArray<{ readonly name: string }>
  readonly terminationGracePeriodSeconds: number
}
interface Workload {
  readonly kind: string
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly template: { readonly metadata: { readonly labels: Readonly<Record<string, string>> }; readonly spec: Pod }
  }
}

const workloadsOf = (text: string) =>
  // A cast: that it has this form is what the schemas have said.
  documentsOf(text).flatMap((document) => ((document as Workload).kind === "Deployment" ? [document as Workload] : []))

describe("the manifests of Kubernetes", () => {
  for (const example of examples) {
    const text = textOf(`deploy/kubernetes/${example}.yaml`)

    it(`${example}: fit the schemas of their kinds, without an unknown field`, () => {
      assert.deepEqual(problemsOf(documentsOf(text)), [])
    })

    it(`${example}: are read by kubectl as what the schemas have checked`, { skip: missing("kubectl") }, () => {
      const file = join(root, `deploy/kubernetes/${example}.yaml`)
      // It sends nothing: it reads the file, and prints it with one annotation more.
      const ran = run("kubectl", ["annotate", "--local", "--filename", file, "read=by-kubectl", "--output", "yaml"])
      assert.equal(ran?.status, 0, ran?.output)
      const read = documentsOf(ran?.output ?? "").flatMap((one) =>
        // A cast: several objects are printed as one list, or as documents.
        (one as { readonly kind: string }).kind === "List" ? (one as { readonly items: Array<unknown> }).items : [one]
      )
      const annotated = (one: unknown) => {
        const { metadata, ...rest } = one as { readonly metadata: { readonly annotations?: object } }
        return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, read: "by-kubectl" } } }
      }
      assert.deepEqual(read, documentsOf(text).map(annotated))
    })

    it(`${example}: are those of the chart as it is`, () => {
      const remedy = "render them again where Helm is: `pnpm --dir test/deploy render`, then `pnpm format`"
      assert.match(text, new RegExp(`^# .*chart ${digestOf(example)}\\.$`, "m"), remedy)
    })

    it(`${example}: have pods without rights, whose volumes exist, and that their selectors find`, () => {
      const workloads = workloadsOf(text)
      assert.notEqual(workloads.length, 0)
      for (const { spec } of workloads) {
        const pod = spec.template.spec
        assert.equal(pod.securityContext.runAsNonRoot, true)
        for (const [name, value] of Object.entries(spec.selector.matchLabels)) {
          assert.equal(spec.template.metadata.labels[name], value)
        }
        for (const { securityContext, volumeMounts } of pod.containers) {
          assert.deepEqual(
            [securityContext.readOnlyRootFilesystem, securityContext.allowPrivilegeEscalation],
            [true, false]
          )
          assert.deepEqual(
            volumeMounts.map(({ name }) => name),
            pod.volumes.map(({ name }) => name)
          )
        }
      }
    })

    it(`${example}: ask for what the room serves`, () => {
      const [, paths = ""] = /export const paths = (\{.*\})/.exec(
        textOf("packages/control-room/src/internal/edge/Probes.ts")
      ) ?? [""]
      const containers = workloadsOf(text).flatMap(({ spec }) => spec.template.spec.containers)
      const probed = containers.flatMap((one) =>
        (["startupProbe", "livenessProbe", "readinessProbe"] as const).flatMap((name) => one[name]?.httpGet.path ?? [])
      )
      assert.deepEqual(probed, ["/healthz", "/healthz", "/readyz"])
      for (const path of probed) assert.ok(paths.includes(`"${path}"`), path)
      const declared = textOf("packages/api/src/internal/endpoints/Workers.ts")
      for (const [, segment] of text.matchAll(/api\/v1\/workspaces\/[^/]+\/([^?\s]+)/g)) {
        assert.ok(declared.includes(`"/workspaces/:workspace_id/${segment}"`), segment)
      }
    })
  }

  it("are refused with a word that YAML 1.1 does not take for text", () => {
    const [ingress] = documentsOf(
      "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: { annotations: { a: off } }"
    )
    assert.match(problemsOf([ingress]).join(), /annotations\/a must be string/)
  })

  it("are refused with a field that is spelled wrongly, and one of another type", () => {
    const [service] = documentsOf(textOf("deploy/kubernetes/one-node.yaml")).filter(
      (document) => (document as Workload).kind === "Service"
    )
    const misspelled = { ...(service as object), spec: { selector: { a: "b" }, port: [] } }
    assert.match(problemsOf([misspelled]).join(), /'port' does not exist|port.*does not exist/)
    const mistyped = { ...(service as object), spec: { ports: [{ port: "80" }] } }
    assert.match(problemsOf([mistyped]).join(), /ports\/0\/port must be integer/)
  })
})

describe("the Helm chart", () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(textOf(`${folder}/values.schema.json`)))
  const fits = (values: unknown) => (validate(values) ? [] : (validate.errors ?? []))
  const defaults: Readonly<Record<string, unknown>> = parse(textOf(`${folder}/values.yaml`))

  for (const example of examples) {
    const values = `${folder}/examples/${example}.yaml`

    it(`${example}: has values that fit its schema`, () => {
      assert.deepEqual(fits({ ...defaults, ...parse(textOf(values)) }), [])
    })

    it(`${example}: renders the manifests`, { skip: noHelm }, () => {
      assert.deepEqual(objectsOf(rendered(values)), objectsOf(textOf(`deploy/kubernetes/${example}.yaml`)))
    })
  }

  it("refuses several nodes without a secret, and settings that are no text", () => {
    const one = { ...defaults, image: "i", publicUrl: "https://robots.example.com" }
    assert.deepEqual(fits(one), [])
    assert.notDeepEqual(fits({ ...one, replicas: 2 }), [])
    assert.notDeepEqual(fits({ ...one, settings: { SIGNALBOX_METRICS: true } }), [])
    assert.notDeepEqual(fits({ ...one, imagePullSecret: "typo" }), [])
  })

  it("refuses a data folder that ends with its pod without a bucket and a database", () => {
    const ephemeral = { ...defaults, image: "i", publicUrl: "https://robots.example.com", storage: { ephemeral: true } }
    const settings = { SIGNALBOX_S3_BUCKET: "files" }
    assert.deepEqual(fits({ ...ephemeral, secret: "signalbox", settings }), [])
    assert.notDeepEqual(fits({ ...ephemeral, secret: "signalbox" }), [])
    assert.notDeepEqual(fits({ ...ephemeral, settings }), [])
  })

  it("names no value that it does not have", () => {
    const templates = filesIn(`${folder}/templates`).map(textOf).join("\n")
    const { properties } = JSON.parse(textOf(`${folder}/values.schema.json`))
    const named = new Set([...templates.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path))
    for (const path of named) {
      const [first = "", second] = path.split(".")
      assert.ok(first in defaults && first in properties, path)
      if (second !== undefined) assert.ok(second in properties[first].properties, path)
    }
    assert.deepEqual([...new Set([...named].map((path) => path.split(".")[0]))].sort(), Object.keys(defaults).sort())
  })

  it("renders valid manifests with every value set", { skip: noHelm }, () => {
    const values = {
      image: "registry.example.com/signalbox:1",
      imagePullSecrets: ["registry"],
      publicUrl: "https://robots.example.com",
      replicas: 2,
      secret: "signalbox",
      settings: { SIGNALBOX_METRICS: "true", SIGNALBOX_RETAIN_RUNS: "30 days" },
      storage: { existingClaim: "shared", storageClassName: "fast", accessMode: "ReadWriteMany" },
      ingress: { enabled: true, host: "robots.example.com", annotations: { "example.com/a": "b" } },
      workers: [
        {
          name: "all",
          image: "w:1",
          secret: "s",
          labels: ["gpu", "eu"],
          settings: { SIGNALBOX_LIMIT_MEMORY: "2GB" },
          resources: { limits: { memory: "3Gi" } },
          drainSeconds: 60,
          scale: { workspaceId: "w", secret: "k", query: "worker_group_id=&labels=eu,gpu", min: 1, max: 3 }
        }
      ]
    }
    const data = mkdtempSync(join(tmpdir(), "signalbox-chart-"))
    try {
      writeFileSync(join(data, "values.yaml"), stringify(values))
      const text = rendered(join(data, "values.yaml"))
      assert.deepEqual(problemsOf(documentsOf(text)), [])
      assert.match(text, /claimName: "?shared/)
      assert.match(text, /terminationGracePeriodSeconds: 70/)
      assert.match(text, /queue-depth\?worker_group_id=&labels=eu,gpu/)
    } finally {
      rmSync(data, { recursive: true })
    }
  })
})
