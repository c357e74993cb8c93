/**
 * Answers of the service as JSON texts.
 */
export const fixtures = {
  me: '{"@odata.context": "https://graph.example/v1.0/$metadata#users/$entity", "businessPhones": ["+10"], "displayName": "Ann Lee", "givenName": "Ann", "jobTitle": null, "mail": "ann@contoso.test", "mobilePhone": null, "officeLocation": null, "preferredLanguage": "en-GB", "surname": "Lee", "userPrincipalName": "ann@contoso.test", "id": "11111111-0000-4000-8000-000000000001"}',
  userHit: '{"id": "u1", "displayName": "Jo One", "userPrincipalName": "jo1@contoso.test", "businessPhones": []}',
  businessDrive:
    '{"@odata.context": "…#drives/$entity", "id": "b!aaa", "driveType": "business", "name": "OneDrive", "description": "", "createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-02T00:00:00Z", "webUrl": "https://contoso-my.example/personal/ann/Documents", "createdBy": {"user": {"displayName": "System Account"}}, "owner": {"user": {"email": "ann@contoso.test", "id": "u-ann", "displayName": "Ann Lee"}}, "quota": {"deleted": 0, "remaining": 900, "state": "normal", "total": 1000, "used": 100}}',
  personalDrive:
    '{"driveType": "personal", "id": "aa00", "owner": {"user": {"displayName": "Ann", "id": "aa00"}}, "quota": {"deleted": 1, "remaining": 9, "state": "normal", "total": 10, "used": 1, "storagePlanInformation": {"upgradeAvailable": true}}}',
  root: '{"@odata.context": "…#drives(\'b%21aaa\')/root/$entity", "id": "01ROOT", "name": "root", "root": {}, "size": 10, "folder": {"childCount": 2}, "webUrl": "https://x", "createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-02T00:00:00Z", "parentReference": {"driveType": "business", "driveId": "b!aaa"}, "fileSystemInfo": {"createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-02T00:00:00Z"}}',
  file: '{"@odata.context": "…/items/$entity", "@microsoft.graph.downloadUrl": "https://dl.example/d/1?tempauth=x", "id": "01FILE", "name": "a #1%.txt", "size": 11, "eTag": "\\"{00000000-0000-0000-0000-000000000001},2\\"", "cTag": "\\"c:{00000000-0000-0000-0000-000000000001},1\\"", "createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-02T00:00:00Z", "webUrl": "https://x/a", "createdBy": {"application": {"id": "app", "displayName": "App"}, "user": {"id": "u", "displayName": "Ann", "email": "ann@contoso.test"}}, "lastModifiedBy": {"user": {"id": "u", "displayName": "Ann"}}, "parentReference": {"driveType": "business", "driveId": "b!aaa", "id": "01FOLD", "name": "Docs", "path": "/drives/b!aaa/root:/Docs", "siteId": "s"}, "file": {"mimeType": "text/plain", "hashes": {"quickXorHash": "aCgDG9jwBhDc4Q1yawMZAAAAAAA="}}, "fileSystemInfo": {"createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-02T00:00:00Z"}}',
  folder: '{"id": "01F", "name": "Docs", "folder": {"childCount": 0}, "size": 0}',
  remoteHit:
    '{"id": "01S", "name": "Plan.docx", "file": {"mimeType": "x"}, "searchResult": {"onClickTelemetryUrl": "https://t"}, "remoteItem": {"id": "01R", "parentReference": {"driveId": "b!bbb"}}}',
  oneNote: '{"id": "01P", "name": "Notes", "package": {"type": "oneNote"}, "size": 1}',
  malware: '{"id": "01M", "name": "x.exe", "file": {}, "malware": {"description": "m"}}',
  deleted: '{"id": "01D", "deleted": {"state": "deleted"}}',
  site: '{"@odata.context": "…#sites/$entity", "id": "contoso.sharepoint.example,aaaaaaaa-0000-4000-8000-000000000001,bbbbbbbb-0000-4000-8000-000000000002", "name": "team", "displayName": "Team", "description": "", "webUrl": "https://contoso.sharepoint.example/sites/team", "createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-02T00:00:00Z", "isPersonalSite": false, "siteCollection": {"hostname": "contoso.sharepoint.example"}, "root": {}}',
  list: '{"@odata.context": "…/lists/$entity", "@odata.etag": "\\"l,0\\"", "id": "22e0", "name": "Books", "displayName": "Books", "description": "", "eTag": "\\"l,0\\"", "webUrl": "https://x/Lists/Books", "createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-01T00:00:00Z", "createdBy": {"user": {"displayName": "Ann", "id": "u"}}, "parentReference": {"siteId": "…"}, "list": {"contentTypesEnabled": false, "hidden": false, "template": "genericList"}}',
  titleColumn:
    '{"id": "c1", "name": "Title", "displayName": "Title", "columnGroup": "Custom Columns", "description": "", "enforceUniqueValues": false, "hidden": false, "indexed": false, "readOnly": false, "required": true, "text": {"allowMultipleLines": false, "appendChangesToExistingText": false, "linesForEditing": 0, "maxLength": 255}}',
  numberColumn:
    '{"id": "c2", "name": "Page_x0020_Count", "displayName": "Page Count", "readOnly": false, "number": {"decimalPlaces": "automatic", "displayAs": "number"}}',
  listItem:
    '{"@odata.etag": "\\"e,1\\"", "id": "1", "createdDateTime": "2024-01-01T00:00:00Z", "eTag": "\\"e,1\\"", "lastModifiedDateTime": "2024-01-01T00:00:00Z", "webUrl": "https://x/1_.000", "createdBy": {"user": {"email": "a@b.test", "id": "u", "displayName": "Ann"}}, "lastModifiedBy": {"user": {"displayName": "Ann"}}, "parentReference": {"id": "p", "siteId": "s"}, "contentType": {"id": "0x0100AA", "name": "Item"}, "fields@odata.context": "…/fields/$entity", "fields": {"@odata.etag": "\\"e,1\\"", "Title": "one", "Page_x0020_Count": 3, "id": "1", "ContentType": "Item", "Modified": "2024-01-01T00:00:00Z", "Created": "2024-01-01T00:00:00Z", "AuthorLookupId": "6", "EditorLookupId": "6", "_UIVersionString": "1.0", "Attachments": false, "Edit": "", "LinkTitleNoMenu": "one", "LinkTitle": "one", "ItemChildCount": "0", "FolderChildCount": "0"}}',
  uploadSession:
    '{"@odata.context": "…#microsoft.graph.uploadSession", "uploadUrl": "https://up.example/s/1?tempauth=x", "expirationDateTime": "2030-01-01T00:00:00Z", "nextExpectedRanges": ["0-"]}',
  uploadAccepted: '{"expirationDateTime": "2030-01-01T00:00:00Z", "nextExpectedRanges": ["5242880-"]}',
  uploadStatus: '{"expirationDateTime": "2030-01-01T00:00:00Z", "nextExpectedRanges": ["12345-55232", "77829-99375"]}',
  deletedInDelta: '{"id": "01D", "name": "x", "deleted": {}}',
  jobInProgress: '{"operation": "ItemCopy", "percentageComplete": 27.8, "status": "inProgress"}',
  jobDone: '{"percentageComplete": 100.0, "resourceId": "01NEW", "status": "completed"}',
  permission:
    '{"id": "p1", "roles": ["write"], "shareId": "u!x", "hasPassword": false, "link": {"type": "edit", "scope": "organization", "webUrl": "https://x/s", "preventsDownload": false}, "grantedToIdentitiesV2": [{"user": {"id": "u", "displayName": "Ann"}}], "grantedToV2": null}'
} as const
