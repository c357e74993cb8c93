/** Task packages and their versions. */
import type { TaskPackages } from "../../contract/TaskPackages.ts"
import type { PackageAuthor, TaskPackageVersion, TaskPackageVersionListed } from "../../contract/TaskPackageVersions.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badPage, nameExists, unknown } from "./Phrases.ts"

const noVersion =
  "The workspace has no such task package, or the package has no version with this number, or no longer."
const badVersion = "`version` in the path is not a whole number from 1."

const by: (typeof PackageAuthor)["Encoded"] = { type: "api_key", id: ids.callerKey, name: "deploy" }

const firstVersion: (typeof TaskPackageVersionListed)["Encoded"] = {
  version: 1,
  state: "available",
  digest: "sha256:4f13aa6f30642e14aa3b57e34d2ebc690d31e7bc9a0b3a8c9cd24ff2afae539e",
  size: 309,
  created_at: "2026-11-20T08:15:30.666Z",
  created_by: by,
  note: null
}

const secondVersion: (typeof TaskPackageVersionListed)["Encoded"] = {
  version: 2,
  state: "current",
  digest: "sha256:3ca6066f2829a3be8dc2dfbfe1f1a4ef1925f1f2c73c5f6fb20ab750d71f731c",
  size: 306,
  created_at: "2026-11-20T08:15:30.713Z",
  created_by: by,
  note: null
}

const content: Pick<(typeof TaskPackageVersion)["Encoded"], "tasks" | "download"> = {
  tasks: [{ name: "Read" }],
  download: {
    url: "https://robots.example.com/transfer/v1/files/019aa0b2-5c00-7000-8000-0000000000fe/invoices.zip?expires=1795166130&signature=tx7vapMqK"
  }
}

export const taskPackages: Documented<typeof TaskPackages> = {
  getTaskPackage: {
    description:
      "Returns a task package with the names of its tasks and the address of its zip, which needs no key and is valid for one hour. A package without content has no tasks, and `download` is null.",
    response: {
      id: ids.taskPackage,
      name: "invoices",
      type: "zip",
      ...content,
      git: null,
      current: {
        version: 2,
        newest: 2,
        digest: secondVersion.digest,
        since: secondVersion.created_at,
        by
      }
    },
    errors: { 404: unknown("task package") }
  },
  createTaskPackage: {
    description:
      "Creates a task package without content. Then upload a zip with the form of `getTaskPackageUpload`, or take it from a git repository with `configureTaskPackage`. The name is unique in the workspace.",
    request: { name: "invoices", type: "zip" },
    response: {
      id: ids.taskPackage,
      name: "invoices",
      type: "zip",
      tasks: [],
      download: null,
      git: null,
      current: null
    },
    errors: { 400: badBody, 409: nameExists("task package") }
  },
  configureTaskPackage: {
    description:
      "Takes the content of a package from a git repository, which it fetches before it responds; that may take minutes. `attached` follows a branch: by polling with `automatic_deployment`, else each time that this is sent. `detached` is one commit, tag or branch as it is now. Credentials are named: `credentials_secret` is a secret with the items `username` and `password`. A commit with other content becomes a new version and the current one.",
    request: {
      type: "github",
      configuration: {
        mode: "attached",
        branch: "main",
        automatic_deployment: true,
        repository: "https://github.com/example/invoices.git",
        directory: null,
        credentials_secret: "github"
      }
    },
    response: { id: ids.taskPackage, name: "invoices", type: "github" },
    errors: {
      400: "The configuration is invalid; the message names the field. The first configuration needs a `repository`. Nothing was changed.",
      404: "The workspace has no such task package, or no secret with the name in `credentials_secret`.",
      409: "The repository could not be read, has no such branch, or holds no valid package; the message says why. Nothing was changed."
    }
  },
  deleteTaskPackage: {
    description: "Deletes a task package with all of its versions. Irreversible. Step runs that have it continue.",
    response: { id: ids.taskPackage, deleted: true },
    errors: {
      404: unknown("task package"),
      409: "A step of a process or an assistant names the package. Change or delete that first."
    }
  },
  listTaskPackages: {
    description: "Returns the task packages of the workspace, newest first, without tasks and addresses.",
    response: { data: [{ id: ids.taskPackage, name: "invoices", type: "zip" }], has_more: false, next: null },
    errors: { 400: badPage }
  },
  getTaskPackageUpload: {
    description:
      "Returns the form with which a zip is uploaded: a multipart `POST` to `url` without authorization, with all fields of `form_data` first and the part `file` last, within one hour. The response to the upload is a 204 once the zip is checked and stored; it is a new version then, and the current one. A zip with the content of the current version creates none.",
    response: {
      url: "https://robots.example.com/transfer/v1/uploads",
      form_data: { policy: "eyJraW5kIjoiZmlsZSJ9", signature: "tx7vapMqK" }
    },
    errors: {
      400: "`note` is longer than 1,000 characters.",
      404: unknown("task package"),
      409: "The package is taken from a git repository. Send `configureTaskPackage` instead, or create another package."
    }
  },
  downloadTaskPackage: {
    description:
      'Returns the zip of the current version itself, for clients of an older generation; or with `Accept: application/json` where it is, as `{"url": …}`, valid for one hour. New clients use the address in `download` of `getTaskPackage`.',
    errors: { 404: "The workspace has no such task package, or it has no content yet." }
  },
  listTaskPackageVersions: {
    description:
      "Returns the versions of a package, newest first. The newest 20 are stored, and those that are current, that a step names, or that a step run uses.",
    response: { data: [secondVersion, firstVersion], has_more: false, next: null },
    errors: { 400: badPage, 404: unknown("task package") }
  },
  getTaskPackageVersion: {
    description:
      "Returns a version with the names of its tasks and the address of its zip, which needs no key and is valid for one hour.",
    parameters: { version: "1" },
    response: { ...firstVersion, ...content },
    errors: { 400: badVersion, 404: noVersion }
  },
  promoteTaskPackageVersion: {
    description:
      "Makes a version the current one: step runs that are leased from then on use it, those that have started do not change. When it is older than the current one, the versions after it are marked `rolled_back`. Changes nothing when it is current.",
    response: { ...secondVersion, ...content },
    errors: { 400: badVersion, 404: noVersion }
  },
  rollbackTaskPackage: {
    description:
      "Makes the previous version current, skipping those that are rolled back. With `from`, only if that version is still current, so that two concurrent rollbacks go back one version, not two.",
    request: { from: 2 },
    response: { ...firstVersion, state: "current", ...content },
    errors: {
      400: badBody,
      404: unknown("task package"),
      409: "The version in `from` is no longer current, or no older version is left. List the versions, and promote one."
    }
  }
}
