/** Assets, secrets, task packages and assistants. */
import * as Assets from "../../../src/contract/Assets.ts"
import * as AssistantRuns from "../../../src/contract/AssistantRuns.ts"
import * as Assistants from "../../../src/contract/Assistants.ts"
import * as RobotSecrets from "../../../src/contract/RobotSecrets.ts"
import * as Secrets from "../../../src/contract/Secrets.ts"
import * as TaskPackageVersions from "../../../src/contract/TaskPackageVersions.ts"
import * as TaskPackages from "../../../src/contract/TaskPackages.ts"
import { at, type Example, later, of } from "./Example.ts"

const packageVersion = {
  version: 7,
  state: "current",
  digest: "sha256:00",
  size: 12,
  created_at: at,
  created_by: { type: "commit", id: "5ac4b14e5a3ad7e1b5d1b9c0a2b3c4d5e6f70819", name: "Ada Lovelace" },
  note: "reads the new form"
}
const currentVersion = {
  version: 7,
  newest: 8,
  digest: "sha256:00",
  since: at,
  by: { type: "api_key", id: "k1", name: "operations" }
}
const assistantRun = {
  id: "ar1",
  state: "failed",
  error: { code: "SETUP_FAILURE" },
  started_at: at,
  ended_at: later,
  duration: 60.5,
  assistant: { id: "a1", name: "invoices" }
}

export const dataExamples: ReadonlyArray<Example> = [
  of("Asset", Assets.Asset, {
    id: "as1",
    name: "config",
    payload: { type: "url", content_type: "application/json", url: "https://example.com/as1" }
  }),
  of("Asset without content", Assets.Asset, { id: "as1", name: "config", payload: { type: "empty" } }, "Asset"),
  of("AssetSummary", Assets.AssetSummary, { id: "as1", name: "config" }),
  of("AssetUpload", Assets.AssetUpload, { id: "u1", status: "failed", content_type: "text/plain", reason: "expired" }),
  of(
    "AssetUpload, pending",
    Assets.AssetUpload,
    { id: "u1", status: "pending", content_type: "text/plain" },
    "AssetUpload"
  ),
  of("AssetUploadCreated", Assets.AssetUploadCreated, {
    id: "u1",
    status: "pending",
    content_type: "text/plain",
    upload_url: "https://example.com/u1"
  }),
  of("Assistant", Assistants.Assistant, {
    id: "a1",
    name: "invoices",
    task: { name: "Main", package_id: "tp1" },
    created_at: at
  }),
  of("AssistantRun", AssistantRuns.AssistantRun, assistantRun),
  of("AssistantRunStarted", AssistantRuns.AssistantRunStarted, {
    id: "ar1",
    run_token: "secret",
    task: { name: "Main" },
    package: { digest: "sha256:00", url: "https://example.com/tp1" },
    heartbeat_seconds: 30
  }),
  of("TaskPackage", TaskPackages.TaskPackage, {
    id: "tp1",
    name: "invoices",
    type: "zip",
    tasks: [{ name: "Main" }],
    download: { url: "https://example.com/tp1" },
    git: null,
    current: currentVersion
  }),
  of("CurrentVersion", TaskPackageVersions.CurrentVersion, currentVersion),
  of("TaskPackageVersionListed", TaskPackageVersions.TaskPackageVersionListed, packageVersion),
  of("TaskPackageVersion", TaskPackageVersions.TaskPackageVersion, {
    ...packageVersion,
    tasks: [{ name: "Main" }],
    download: { url: "https://example.com/tp1" }
  }),
  of("GitSource", TaskPackages.GitSource, {
    repository: "https://example.com/invoices.git",
    directory: null,
    credentials_secret: "git",
    mode: "attached",
    reference: "main",
    automatic_deployment: true,
    commit: "5ac4b14e5a3ad7e1b5d1b9c0a2b3c4d5e6f70819",
    fetched_at: at,
    error: { message: "the repository has no branch", failed_at: later }
  }),
  of("TaskPackageSummary", TaskPackages.TaskPackageSummary, { id: "tp1", name: "invoices", type: "github" }),
  of("Secret", Secrets.Secret, { name: "shop", description: "the shop's back office", hosts: ["git.example.com"] }),
  of("SecretWithItemNames", Secrets.SecretWithItemNames, {
    name: "shop",
    description: "the shop's back office",
    hosts: [],
    item_names: ["user", "password"]
  }),
  of("SealedSecret", RobotSecrets.SealedSecret, {
    name: "shop",
    description: "the shop's back office",
    value: "AAEC",
    encryption: { encryptionScheme: "robocloud-vault-transit-v2", encryptedAES: "AAEC", authTag: "AAEC", iv: "AAEC" }
  })
]
