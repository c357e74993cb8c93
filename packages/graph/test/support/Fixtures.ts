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
  message:
    '{"@odata.etag": "W/\\"CQAA\\"", "id": "AAkALg=", "createdDateTime": "2030-01-01T10:00:00Z", "lastModifiedDateTime": "2030-01-01T10:00:01Z", "changeKey": "CQAA", "categories": [], "receivedDateTime": "2030-01-01T10:00:00Z", "sentDateTime": "2030-01-01T09:59:58Z", "hasAttachments": true, "internetMessageId": "<41@partner.test>", "subject": "Invoice 41", "bodyPreview": "Please pay.", "importance": "normal", "parentFolderId": "AQMk=", "conversationId": "AAQk=", "conversationIndex": "AQHb", "isDeliveryReceiptRequested": null, "isReadReceiptRequested": false, "isRead": false, "isDraft": false, "webLink": "https://x/owa", "inferenceClassification": "focused", "body": {"contentType": "html", "content": "<p>Please pay.</p>"}, "sender": {"emailAddress": {"name": "Joan", "address": "joan@partner.test"}}, "from": {"emailAddress": {"name": "Joan", "address": "joan@partner.test"}}, "toRecipients": [{"emailAddress": {"name": "Invoices", "address": "invoices@contoso.test"}}], "ccRecipients": [], "bccRecipients": [], "replyTo": [], "flag": {"flagStatus": "flagged", "dueDateTime": {"dateTime": "2030-01-02T00:00:00.0000000", "timeZone": "UTC"}}}',
  removedMessage: '{"@odata.type": "#microsoft.graph.message", "id": "AAkALg=", "@removed": {"reason": "deleted"}}',
  fileAttachment:
    '{"@odata.type": "#microsoft.graph.fileAttachment", "@odata.mediaContentType": "image/jpeg", "id": "AAMkATT=", "lastModifiedDateTime": "2030-01-01T10:00:00Z", "name": "flower.jpg", "contentType": "image/jpeg", "size": 3640066, "isInline": false, "contentId": null}',
  itemAttachment:
    '{"@odata.type": "#microsoft.graph.itemAttachment", "id": "AAMkATI=", "lastModifiedDateTime": "2030-01-01T10:00:00Z", "name": "Reminder", "contentType": null, "size": 32005, "isInline": false}',
  mailFolder:
    '{"id": "AQMk=", "displayName": "Inbox", "parentFolderId": "AQMkR=", "childFolderCount": 1, "unreadItemCount": 2, "totalItemCount": 3, "sizeInBytes": 1000, "isHidden": false}',
  permission:
    '{"id": "p1", "roles": ["write"], "shareId": "u!x", "hasPassword": false, "link": {"type": "edit", "scope": "organization", "webUrl": "https://x/s", "preventsDownload": false}, "grantedToIdentitiesV2": [{"user": {"id": "u", "displayName": "Ann"}}], "grantedToV2": null}',
  groupMember:
    '{"@odata.type": "#microsoft.graph.user", "id": "u2", "displayName": "Bo Jones", "userPrincipalName": "bo@contoso.test", "mail": null, "businessPhones": []}',
  selectedUser: '{"id": "u3"}',
  libraryDrive:
    '{"id": "b!lib", "driveType": "documentLibrary", "name": "Documents", "webUrl": "https://contoso.sharepoint.example/sites/team/Shared%20Documents", "createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-01T00:00:00Z", "owner": {"group": {"email": "team@contoso.test", "id": "g1", "displayName": "Team"}}, "quota": {"deleted": 0, "remaining": 0, "state": "exceeded", "total": 0, "used": 0}, "sharePointIds": {"listId": "l1", "siteId": "s1", "siteUrl": "https://contoso.sharepoint.example/sites/team", "webId": "w1"}}',
  personalFolder:
    '{"id": "AA00!104", "name": "Pictures", "size": 7, "cTag": "adDpBQTAw", "eTag": "aQUEwMCE", "createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-01T00:00:00Z", "webUrl": "https://1drv.example/f/s!A", "reactions": {"commentCount": 0}, "folder": {"childCount": 2, "view": {"viewType": "thumbnails", "sortBy": "takenOrCreatedDateTime", "sortOrder": "ascending"}}, "specialFolder": {"name": "photos"}, "parentReference": {"driveId": "aa00", "driveType": "personal", "id": "AA00!101", "path": "/drive/root:"}, "fileSystemInfo": {"createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-01T00:00:00Z"}}',
  photo:
    '{"id": "AA00!105", "name": "p.jpg", "size": 3, "file": {"mimeType": "image/jpeg", "hashes": {"quickXorHash": "aCgDG9jwBhDc4Q1yawMZAAAAAAA=", "sha1Hash": "A9993E36", "sha256Hash": "BA7816BF"}}, "image": {"height": 20, "width": 30}, "photo": {"cameraMake": "M", "cameraModel": "X", "exposureDenominator": 1000.0, "exposureNumerator": 1.0, "fNumber": 1.8, "focalLength": 4.2, "iso": 100, "takenDateTime": "2024-01-01T00:00:00Z"}, "location": {"latitude": 47.1, "longitude": 8.5, "altitude": 400.5}, "shared": {"scope": "users", "owner": {"user": {"id": "aa00", "displayName": "Ann"}}}}',
  video:
    '{"id": "01V", "name": "v.mp4", "size": 9, "file": {"mimeType": "video/mp4"}, "video": {"bitrate": 2000, "duration": 62000, "height": 720, "width": 1280, "fourCC": "H264"}, "audio": {"album": "A", "track": 2}}',
  checkedOut:
    '{"id": "01C", "name": "c.docx", "size": 5, "file": {"mimeType": "application/x"}, "publication": {"level": "checkout", "versionId": "2.1"}, "sharepointIds": {"listItemId": "7", "listItemUniqueId": "n7"}, "lastModifiedBy": {"application": {"id": "a1", "displayName": "App"}}, "createdBy": {"device": {"id": "d1"}, "user": {"displayName": "Ann"}}}',
  sharedFolder:
    '{"id": "01SF", "name": "Shared", "folder": {"childCount": 1}, "remoteItem": {"id": "01RF", "name": "Shared", "folder": {"childCount": 1}, "size": 4, "webUrl": "https://x/shared", "shared": {"scope": "users", "sharedDateTime": "2024-01-01T00:00:00Z", "sharedBy": {"user": {"id": "u", "displayName": "Joan"}}}, "parentReference": {"driveId": "b!ccc", "driveType": "business", "id": "01RP"}}}',
  subsite:
    '{"id": "contoso.sharepoint.example,c1,w2", "name": "sub", "webUrl": "https://contoso.sharepoint.example/sites/team/sub", "createdDateTime": "2024-01-01T00:00:00Z", "displayName": "Sub"}',
  libraryList:
    '{"id": "l1", "name": "Shared Documents", "displayName": "Dokumente", "description": "", "eTag": "\\"l1,3\\"", "webUrl": "https://contoso.sharepoint.example/sites/team/Shared%20Documents", "createdDateTime": "2024-01-01T00:00:00Z", "lastModifiedDateTime": "2024-01-01T00:00:00Z", "lastModifiedBy": {"user": {"displayName": "Ann"}}, "parentReference": {"siteId": "s1"}, "list": {"contentTypesEnabled": true, "hidden": false, "template": "documentLibrary"}}',
  choiceColumn:
    '{"id": "c3", "name": "State", "displayName": "State", "columnGroup": "Custom Columns", "readOnly": false, "required": false, "type": "choice", "choice": {"allowTextEntry": false, "choices": ["open", "done"], "displayAs": "dropDownMenu"}, "defaultValue": {"value": "open"}}',
  lookupColumn:
    '{"id": "c4", "name": "Order", "displayName": "Order", "readOnly": false, "lookup": {"allowMultipleValues": true, "allowUnlimitedLength": false, "columnName": "Title", "listId": "l2"}, "isDeletable": true, "isReorderable": true, "isSealed": false}',
  personColumn:
    '{"id": "c5", "name": "Author", "displayName": "Created By", "readOnly": true, "personOrGroup": {"allowMultipleSelection": false, "chooseFromType": "peopleAndGroups", "displayAs": "nameWithPresence"}}',
  calculatedColumn:
    '{"id": "c6", "name": "Sum", "displayName": "Sum", "readOnly": true, "calculated": {"format": "dateOnly", "formula": "=[A]+[B]", "outputType": "number"}}',
  documentItem:
    '{"@odata.etag": "\\"e,2\\"", "id": "7", "createdDateTime": "2024-01-01T00:00:00Z", "eTag": "\\"e,2\\"", "lastModifiedDateTime": "2024-01-01T00:00:00Z", "webUrl": "https://x/Shared%20Documents/a.docx", "contentType": {"id": "0x0101", "name": "Document"}, "parentReference": {"id": "p", "siteId": "s"}, "fields": {"@odata.etag": "\\"e,2\\"", "FileLeafRef": "a.docx", "State": "open", "OrderLookupId": "3", "Tags@odata.type": "Collection(Edm.String)", "Tags": ["a", "b"], "id": "7"}}',
  deletedItemInDelta:
    '{"id": "8", "deleted": {"state": "deleted"}, "parentReference": {"siteId": "s"}, "contentType": {"id": "0x0100AA"}}',
  invitedGuest:
    '{"id": "p2", "roles": ["read"], "hasPassword": false, "invitation": {"email": "guest@other.test", "signInRequired": true, "invitedBy": {"user": {"displayName": "Ann"}}}, "grantedTo": {"user": {"displayName": "guest@other.test"}}}',
  inheritedPermission:
    '{"id": "p3", "roles": ["owner"], "grantedTo": {"user": {"id": "u", "displayName": "Ann", "email": "ann@contoso.test"}}, "grantedToV2": {"siteUser": {"id": "3", "displayName": "Ann", "loginName": "i:0#.f|membership|ann@contoso.test"}, "user": {"id": "u", "displayName": "Ann"}}, "inheritedFrom": {"driveId": "b!aaa", "id": "01FOLD", "path": "/drive/root:/Docs"}}',
  anonymousLink:
    '{"id": "p4", "roles": ["read"], "expirationDateTime": "2030-01-01T00:00:00Z", "hasPassword": true, "link": {"type": "embed", "scope": "anonymous", "webUrl": "https://x/e", "webHtml": "<IFRAME src=\\"https://x/e\\"></IFRAME>", "application": {"id": "1", "displayName": "App"}}}'
} as const
