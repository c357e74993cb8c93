/** The texts of fields that mean something else in one place, for `Fields.ts`. */
const downloaded = "Where it is downloaded, without a key and for one hour."
const failedBy = "Why it failed, such as `ROBOT_FAILURE`."
const formUrl = "Where the form is sent, as a multipart `POST` without authorization."

/** Fields that mean something else in one place. */
const special = {
  "Artifact.url": downloaded,
  "Assistant.task": "A task of a task package.",
  "AssistantRun.error.code": failedBy,
  "AssistantRun.state": "`in_progress`, then `completed` or `failed`.",
  "AssistantRunStarted.task": "The task to run.",
  "ConsoleTicket.expires_at": "When it expires.",
  "Lease.task": "The task to run.",
  "LegacyUploadForm.url": formUrl,
  "ApiKey.expires_at": "From then on the key is refused; null: it does not expire.",
  "ApiKeyCreated.expires_at": "From then on the key is refused; null: it does not expire.",
  "createApiKey.expires_at": "From then on the key is refused; default: it does not expire.",
  "createApiKey.owner": "The user with whom the key ends; null: of the workspace. Default: the user who creates it.",
  "LinkToken.expires_at": "When it expires.",
  "Membership.worker": "The worker.",
  "Paused.by": "Who paused it.",
  "RoomNode.last_seen_at": "Its newest sign of life.",
  "RoomNode.name": "The host name of its machine or container.",
  "RoomNode.state":
    "`online`, or `offline` after 15 seconds without a sign of life. An offline node is listed for a day.",
  "RoomNode.version": "The version of Signalbox that it runs.",
  "ScheduleOccurrence.at": "The time of the schedule.",
  "ScheduleTime.at": "The time of the schedule.",
  "SettledItem.state": "`COMPLETED` or `FAILED`.",
  "StartedBy.type": "`api`, `user`, `schedule` or `email`.",
  "StepRun.error.code": failedBy,
  "TaskPackage.type": "`zip` when it is uploaded; from git `github` or `gitlab`.",
  "TaskPackageSummary.type": "`zip` when it is uploaded; from git `github` or `gitlab`.",
  "Webhook.process": "Only this process; null: all processes.",
  "WebhookEvent.payload.state": "The state of the run; of a process `paused` or `resumed`.",
  "WebhookListed.process": "Only this process; null: all processes.",
  "addWorkerToGroup.worker": "The worker.",
  "callback.secret": "The secret that signs what is sent, 1 to 1,024 characters.",
  "callback.url": "Where the events are sent, `http` or `https`.",
  "cancelBulkOperation.accepted": "False when it had already ended.",
  "completeAssistantRun.error.code": failedBy,
  "configuration.reference": "A commit, tag or branch.",
  "configureTaskPackage.type": "Where the repository is: `github` or `gitlab`.",
  "createAssistant.task": "A task of a task package.",
  "createRobotFile.url": formUrl,
  "createWebhook.process": "Only this process; null or absent: all processes.",
  "createWorkerLinkToken.expires_at": "When it expires; default: in one hour.",
  "download.url": downloaded,
  "exception.code": "A word of the task, such as `NO_AMOUNT`; null or absent: none.",
  "exception.message": "What went wrong, in words of the task.",
  "exception.type": "`BUSINESS`: missing or wrong data, never retried; the others may be retried.",
  "files.url": downloaded,
  "finishStepRun.error.code": failedBy,
  "finishStepRun.error.message": "What went wrong.",
  "getProcessRunSteps.data": "The steps, in their order.",
  "getScheduleTimes.data": "The times, earliest first.",
  "getThroughput.data": "The hours, oldest first.",
  "getWorkItemFile.url": downloaded,
  "leaseStepRuns.tasks": "The tasks that the worker defines itself, at most 1,000 names.",
  "linkWorker.tasks": "The tasks that the worker defines itself, at most 1,000 names.",
  "package.url": downloaded,
  "password_from.secret": "The name of the secret.",
  "pause.by": "Who paused it.",
  "previewScheduleTimes.data": "The times, earliest first.",
  "created_by.type": "`api_key` for a key, `commit` for a commit.",
  "releaseWorkItem.state": "`COMPLETED` or `FAILED`.",
  "reportStepRunBuild.state": "`started` or `ended`.",
  "rule.process": "Only this process; absent: all processes. `nothing_completed` requires it.",
  "signature.secret":
    "The shared secret. A new signature needs it; a change without it leaves it as it is. It is not returned.",
  "updateFailure.state": "`open`, `muted` or `resolved`.",
  "updateWebhook.process": "Only this process; null: all processes.",
  "Alert.enabled": "Whether it watches.",
  "Alert.firing": "How many of its firings are not over.",
  "Alert.since": "It watches since then: since it was created, enabled, or its rule changed.",
  "AlertFiring.message": "A sentence about it, as it was when last seen.",
  "AlertFiring.state":
    "`held` until its first message may be sent, `firing`, `ending` until the last message may be sent, `over`.",
  "AlertMessage.kind": "`began`, `repeated`, `over`, or `test`.",
  "AlertMessage.state": "`pending` while another attempt will be made, then `delivered` or `failed`.",
  "AssetUpload.reason": "Why the upload failed.",
  "BulkFilter.code": "Only items whose exception has this code.",
  "BulkFilter.process_id": "Only what is of this process.",
  "BulkFilter.process_run_id": "Only items of this run.",
  "BulkFilter.reference": "Only items with this reference.",
  "BulkFilter.state":
    "`failed` for `retry` and `mark_as_done`; `new`, `failed` or `done` for `delete`; `completed` or `unresolved` for `start_again`. Default: any of these.",
  "BulkFilter.step_id": "Only items of this step.",
  "BulkFilter.type": "Only items whose exception has this type.",
  "BulkOperation.done": "On how many the operation was carried out.",
  "BulkOperation.state": "`waiting`, `in_progress`, `completed` or `cancelled`.",
  "BulkRefusal.code": "The code of the refusal.",
  "BulkRefusal.ids": "Up to five of what was refused.",
  "BulkRefusal.message": "Why, with `#` for each number and id.",
  "Change.id":
    "Of what: of `runs`, `step_runs` and `items` the run, of `logs` the step run; null: of several, or of none.",
  "ConsoleTicket.url": "The console with the ticket in its fragment, which browsers do not send.",
  "CurrentVersion.by": "Who made it current; null: not known.",
  "Error.error": "What went wrong.",
  "Error.message": "The same as `error.message`, for clients that look here.",
  "Failure.code": "The code of their exceptions.",
  "Failure.count": "How many of its items are failed now.",
  "Failure.created_at": "When an item failed like this for the first time.",
  "Failure.id": "The fingerprint of the group: the same whenever items fail like this again.",
  "Failure.message":
    "The message of their exceptions, with `#` for each number, id and quoted path; at most 500 characters.",
  "Failure.note": "A note in free words; null: none.",
  "Failure.state":
    "A `muted` group raises no alerts; a `resolved` one has no failed items, and is `open` again when an item fails like it.",
  "Failure.type": "The type of their exceptions.",
  "Failure.work_items": "Up to five of its items with their runs; the one that failed last comes first.",
  "GitSource.error": "Why the last poll of the branch failed; the content does not change. Null after a success.",
  "GitSource.reference": "The branch; of a detached package its commit, tag or branch.",
  "LegacyEvent.data": "Always null.",
  "LegacyRun.state": "`INI`, `IP` while it runs, `COMPL`, or `PENDING` when failed items are left.",
  "LegacyRunWithSteps.state": "`INI`, `IP` while it runs, `COMPL`, or `PENDING` when failed items are left.",
  "LegacyStepRun.stepId": "The id of the step, as `activityId`.",
  "LegacyStepRun.state": "`INI`, `IND` while it waits for a worker, `IP`, or `COMPL` when it has ended.",
  "ProcessRun.priority": "Of the items that the run creates; default 0.",
  "ProcessRun.state":
    "`new`, `in_progress`, `stopping`, then `completed`, or `unresolved` while a failed item is left.",
  "Room.paused": "Whether it was restored from a backup and not resumed since.",
  "RunStep.ended_at": "When its last step run ended; null while items wait or are in progress.",
  "RunStep.items": "Its items by state.",
  "RunStep.started_at": "When its first step run started; null before.",
  "SealedSecret.name": "The name of the secret.",
  "Secret.name": "The name of the secret, which also identifies it.",
  "StepRun.error": "Why it failed; null when it did not.",
  "QueueDepth.assigned": "Step runs that a worker has.",
  "QueueDepth.total": "Both: the number of workers that have work, with one step run at a time each.",
  "QueueDepth.waiting": "Step runs that no worker has, without those that a pause holds back.",
  "StepRun.state": "`new`, `awaiting_worker`, `in_progress`, then `completed` or `failed`.",
  "StepRunEnvironment.digest": "Identifies the environment.",
  "StepRunEnvironment.seconds": "How long its build took, whenever that was, in seconds.",
  "StepRunEvent.environment": "The environment, for events `ENVIRONMENT`; null in all others.",
  "StepRunEvent.message":
    "What it waits for, or how much of the log is missing, in events that say so; null otherwise.",
  "TaskPackage.download": "Where the zip is downloaded, without a key and for one hour; null without content.",
  "TaskPackageVersion.note":
    "What was said at the upload, or the first line of the message of the commit; null: nothing.",
  "TaskPackageVersion.state":
    "`current`, `available`, or `rolled_back`: an older version was made current in its place.",
  "TaskPackageVersionListed.note":
    "What was said at the upload, or the first line of the message of the commit; null: nothing.",
  "TaskPackageVersionListed.state":
    "`current`, `available`, or `rolled_back`: an older version was made current in its place.",
  "ThroughputHour.from": "The beginning of the hour.",
  "TriggerCreated.url": "The address, which is returned only here and is a secret; null when none was made.",
  "UploadForm.url": formUrl,
  "WebhookDelivery.body": "The body, exactly as every attempt sends it.",
  "WebhookDelivery.state": "`pending` while another attempt will be made, then `delivered` or `failed`.",
  "WebhookEvent.action": "What happened; `test` is the test event of a webhook.",
  "WebhookEvent.payload": "The run, or the process, that the event is about.",
  "WebhookEvent.result": "`error` when the run is `unresolved`; null until it has ended.",
  "WebhookEvent.seqNo": "Increases with each event of a run, from 1; 0 in events of no run.",
  "WorkItem.state": "`new` in the queue of its process, `pending` in a run, `in_progress`, then `done` or `failed`.",
  "WorkItemListed.state":
    "`new` in the queue of its process, `pending` in a run, `in_progress`, then `done` or `failed`.",
  "WorkItemException.code": "A word of the task, such as `NO_AMOUNT`.",
  "WorkItemException.message": "What went wrong, in words of the task.",
  "WorkItemException.type":
    "`business`: missing or wrong data, not worth a retry; `application`, `orchestrator` and `unspecified` items may be retried.",
  "Worker.state": "`offline`: no heartbeat for 10 seconds; `busy`: processing at least one step run; else `idle`.",
  "Worker.step_runs": "The step runs that it is processing.",
  "CurrentVersion.by.type": "`api_key` for a key, `commit` for a commit.",
  "stopProcessRun.accepted": "False when it had already ended.",
  "by.type": "`api_key` for a key; otherwise what acted automatically, such as `failures`.",
  "completeAssistantRun.error": "Null: the task succeeded.",
  "createAssetUpload.data": "The content in base64, below 5,000,000 bytes; absent: it is sent to `upload_url`.",
  "createSecret.items": "Any JSON under each name, at most 64 KiB in all. Never returned here.",
  "createStepRunArtifact.name":
    "The path of the artifact below the folder of artifacts: relative, with `/` and without `..`.",
  "email.from": "The address that mails come from.",
  "email.to": "The addresses that mails go to.",
  "error.code": "A code for programs, in capitals.",
  "error.message": "What went wrong, and what to do.",
  "finishStepRun.error": "Null: the task succeeded.",
  "items.done": "Items that are done.",
  "items.failed": "Items that have failed.",
  "muted.by": "The key that muted it.",
  "nextWorkItems.error": "Why nothing of this step run was changed; null: it was.",
  "nextWorkItems.item": "The reserved item; null: none waits.",
  "paused.by": "Who paused it.",
  "payload.url": "Where the content is downloaded, without a key and for one hour.",
  "previewScheduleTimes.at": "The one time of a schedule that comes once, ISO 8601.",
  "rollbackTaskPackage.from":
    "The version that must be current, so that a concurrent rollback is not repeated; absent: any.",
  "rule.items": "More than so many items wait.",
  "settings.from": "The address that mails come from.",
  "settings.to": "The addresses that mails go to, 1 to 50.",
  "settings.url": "The address that receives the messages; of Slack, Teams, ntfy and heartbeats it is a secret itself.",
  "startProcessRun.priority": "Of the items that the run creates, and of those it takes whose own priority is 0.",
  "startProcessRun.type": "What the run starts with; absent: the default work item.",
  "setSecretItems.items": "Any JSON under each name. With the items that stay, at most 64 KiB.",
  "setSecretItems.remove": "Names of items to delete; those that the secret does not have are ignored.",
  "updateSecret.items": "Any JSON under each name, at most 64 KiB in all. They replace all items.",
  "webhook.payload":
    "What of the body is the payload: a JSON pointer, or an object of several; null or absent: the whole body."
}

/** More of these: the same words for the schemas that are written and those that are read. */
const schedule = {
  at: "The one time of a schedule that comes once, ISO 8601; null or absent: it comes again and again.",
  from: "It does not come before this time; null or absent: at any time.",
  until: "It does not come after this time; null or absent: at any time.",
  waiting: "Times of occurrences that begin when an earlier run has ended."
}

const hours = {
  from: "The beginning, such as `08:00`.",
  to: "The end, such as `18:00`, which is not part of it; one that is not after `from` is of the next day."
}

const under = (owners: ReadonlyArray<string>, texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    owners.flatMap((owner) => Object.entries(texts).map(([field, text]) => [`${owner}.${field}`, text]))
  )

/** By `<owner>.<parent>.<field>`, `<parent>.<field>` or `<owner>.<field>`. */
export const specialFields: Readonly<Record<string, string>> = {
  ...special,
  ...under(["Schedule", "ScheduleListed"], schedule),
  ...under(["createSchedule", "updateSchedule", "previewScheduleTimes"], {
    at: schedule.at,
    from: schedule.from,
    until: schedule.until
  }),
  ...under(["quiet", "hours"], hours)
}
