// The types of api/meta as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import type { Infer } from '../schema/infer.js'
import * as s from '../schema/node.js'

const struct = s.structsOf('apimachinery.pkg.apis.meta.v1')

export const groupVersionForDiscovery = struct('GroupVersionForDiscovery', {
  groupVersion: s.field(1, s.string, { always: true, required: true, default: '' }),
  version: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type GroupVersionForDiscovery = Infer<typeof groupVersionForDiscovery>

export const serverAddressByClientCIDR = struct('ServerAddressByClientCIDR', {
  clientCIDR: s.field(1, s.string, { always: true, required: true, default: '' }),
  serverAddress: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type ServerAddressByClientCIDR = Infer<typeof serverAddressByClientCIDR>

export const apiGroup = struct(
  'APIGroup',
  {
    name: s.field(1, s.string, { always: true, required: true, default: '' }),
    versions: s.field(2, s.list(groupVersionForDiscovery), { always: true, required: true }),
    preferredVersion: s.field(3, groupVersionForDiscovery, { default: {} }),
    serverAddressByClientCIDRs: s.field(4, s.list(serverAddressByClientCIDR)),
  },
  { typeMeta: true },
)
export type APIGroup = Infer<typeof apiGroup>

export const apiGroupList = struct(
  'APIGroupList',
  {
    groups: s.field(1, s.list(apiGroup), { always: true, required: true }),
  },
  { typeMeta: true },
)
export type APIGroupList = Infer<typeof apiGroupList>

export const apiResource = struct('APIResource', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  singularName: s.field(6, s.string, { always: true, required: true, default: '' }),
  namespaced: s.field(2, s.boolean, { always: true, required: true, default: false }),
  group: s.field(8, s.string),
  version: s.field(9, s.string),
  kind: s.field(3, s.string, { always: true, required: true, default: '' }),
  verbs: s.field(4, s.list(s.string, { protoWrapped: true }), { always: true, required: true }),
  shortNames: s.field(5, s.list(s.string)),
  categories: s.field(7, s.list(s.string)),
  storageVersionHash: s.field(10, s.string),
})
export type APIResource = Infer<typeof apiResource>

export const apiResourceList = struct(
  'APIResourceList',
  {
    groupVersion: s.field(1, s.string, { always: true, required: true, default: '' }),
    resources: s.field(2, s.list(apiResource), { always: true, required: true }),
  },
  { typeMeta: true },
)
export type APIResourceList = Infer<typeof apiResourceList>

export const apiVersions = struct(
  'APIVersions',
  {
    versions: s.field(1, s.list(s.string), { always: true, required: true }),
    serverAddressByClientCIDRs: s.field(2, s.list(serverAddressByClientCIDR), { always: true, required: true }),
  },
  { typeMeta: true },
)
export type APIVersions = Infer<typeof apiVersions>

export const applyOptions = struct(
  'ApplyOptions',
  {
    dryRun: s.field(1, s.list(s.string)),
    force: s.field(2, s.boolean, { always: true, required: true, default: false }),
    fieldManager: s.field(3, s.string, { always: true, required: true, default: '' }),
  },
  { typeMeta: true },
)
export type ApplyOptions = Infer<typeof applyOptions>

export const condition = struct('Condition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  observedGeneration: s.field(3, s.int64),
  lastTransitionTime: s.field(4, s.time, { always: true, required: true, default: {} }),
  reason: s.field(5, s.string, { always: true, required: true, default: '' }),
  message: s.field(6, s.string, { always: true, required: true, default: '' }),
})
export type Condition = Infer<typeof condition>

export const createOptions = struct(
  'CreateOptions',
  {
    dryRun: s.field(1, s.list(s.string)),
    fieldManager: s.field(3, s.string),
    fieldValidation: s.field(4, s.string),
  },
  { typeMeta: true },
)
export type CreateOptions = Infer<typeof createOptions>

export const preconditions = struct('Preconditions', {
  uid: s.field(1, s.string, { pointer: true }),
  resourceVersion: s.field(2, s.string, { pointer: true }),
})
export type Preconditions = Infer<typeof preconditions>

export const deleteOptions = struct(
  'DeleteOptions',
  {
    gracePeriodSeconds: s.field(1, s.int64, { pointer: true }),
    preconditions: s.field(2, preconditions, { pointer: true }),
    orphanDependents: s.field(3, s.boolean, { pointer: true }),
    propagationPolicy: s.field(4, s.string, { pointer: true }),
    dryRun: s.field(5, s.list(s.string)),
  },
  { typeMeta: true },
)
export type DeleteOptions = Infer<typeof deleteOptions>

export const getOptions = struct(
  'GetOptions',
  {
    resourceVersion: s.field(1, s.string),
  },
  { typeMeta: true },
)
export type GetOptions = Infer<typeof getOptions>

export const groupKind = struct('GroupKind', {
  group: s.field(1, s.string, { always: true, required: true, default: '' }),
  kind: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type GroupKind = Infer<typeof groupKind>

export const groupResource = struct('GroupResource', {
  group: s.field(1, s.string, { always: true, required: true, default: '' }),
  resource: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type GroupResource = Infer<typeof groupResource>

export const groupVersionKind = struct('GroupVersionKind', {
  group: s.field(1, s.string, { always: true, required: true, default: '' }),
  version: s.field(2, s.string, { always: true, required: true, default: '' }),
  kind: s.field(3, s.string, { always: true, required: true, default: '' }),
})
export type GroupVersionKind = Infer<typeof groupVersionKind>

export const groupVersionResource = struct('GroupVersionResource', {
  group: s.field(1, s.string, { always: true, required: true, default: '' }),
  version: s.field(2, s.string, { always: true, required: true, default: '' }),
  resource: s.field(3, s.string, { always: true, required: true, default: '' }),
})
export type GroupVersionResource = Infer<typeof groupVersionResource>

export const info = s.structsOf('apimachinery.pkg.version')(
  'Info',
  {
    major: s.jsonField(s.string, { always: true, required: true, default: '' }),
    minor: s.jsonField(s.string, { always: true, required: true, default: '' }),
    gitVersion: s.jsonField(s.string, { always: true, required: true, default: '' }),
    gitCommit: s.jsonField(s.string, { always: true, required: true, default: '' }),
    gitTreeState: s.jsonField(s.string, { always: true, required: true, default: '' }),
    buildDate: s.jsonField(s.string, { always: true, required: true, default: '' }),
    goVersion: s.jsonField(s.string, { always: true, required: true, default: '' }),
    compiler: s.jsonField(s.string, { always: true, required: true, default: '' }),
    platform: s.jsonField(s.string, { always: true, required: true, default: '' }),
  },
  { noProto: true },
)
export type Info = Infer<typeof info>

export const labelSelectorRequirement = struct('LabelSelectorRequirement', {
  key: s.field(1, s.string, { always: true, required: true, default: '', patchStrategy: 'merge', patchMergeKey: 'key' }),
  operator: s.field(2, s.string, { always: true, required: true, default: '' }),
  values: s.field(3, s.list(s.string)),
})
export type LabelSelectorRequirement = Infer<typeof labelSelectorRequirement>

export const labelSelector = struct(
  'LabelSelector',
  {
    matchLabels: s.field(1, s.map(s.string)),
    matchExpressions: s.field(2, s.list(labelSelectorRequirement)),
  },
  { mapType: 'atomic' },
)
export type LabelSelector = Infer<typeof labelSelector>

export const listMeta = struct('ListMeta', {
  selfLink: s.field(1, s.string),
  resourceVersion: s.field(2, s.string),
  continue: s.field(3, s.string),
  remainingItemCount: s.field(4, s.int64, { pointer: true }),
})
export type ListMeta = Infer<typeof listMeta>

export const list = struct(
  'List',
  {
    metadata: s.field(1, listMeta, { default: {} }),
    items: s.field(2, s.list(s.any('raw')), { always: true, required: true }),
  },
  { typeMeta: true },
)
export type List = Infer<typeof list>

export const listOptions = struct(
  'ListOptions',
  {
    labelSelector: s.field(1, s.string),
    fieldSelector: s.field(2, s.string),
    watch: s.field(3, s.boolean),
    allowWatchBookmarks: s.field(9, s.boolean),
    resourceVersion: s.field(4, s.string),
    resourceVersionMatch: s.field(10, s.string),
    timeoutSeconds: s.field(5, s.int64, { pointer: true }),
    limit: s.field(7, s.int64),
    continue: s.field(8, s.string),
  },
  { typeMeta: true },
)
export type ListOptions = Infer<typeof listOptions>

export const managedFieldsEntry = struct('ManagedFieldsEntry', {
  manager: s.field(1, s.string),
  operation: s.field(2, s.string),
  apiVersion: s.field(3, s.string),
  time: s.field(4, s.time, { pointer: true }),
  fieldsType: s.field(6, s.string),
  fieldsV1: s.field(7, s.any('fields'), { pointer: true }),
  subresource: s.field(8, s.string),
})
export type ManagedFieldsEntry = Infer<typeof managedFieldsEntry>

export const ownerReference = struct(
  'OwnerReference',
  {
    apiVersion: s.field(5, s.string, { always: true, required: true, default: '' }),
    kind: s.field(1, s.string, { always: true, required: true, default: '' }),
    name: s.field(3, s.string, { always: true, required: true, default: '' }),
    uid: s.field(4, s.string, { always: true, required: true, default: '' }),
    controller: s.field(6, s.boolean, { pointer: true }),
    blockOwnerDeletion: s.field(7, s.boolean, { pointer: true }),
  },
  { mapType: 'atomic' },
)
export type OwnerReference = Infer<typeof ownerReference>

export const objectMeta = struct('ObjectMeta', {
  name: s.field(1, s.string),
  generateName: s.field(2, s.string),
  namespace: s.field(3, s.string),
  selfLink: s.field(4, s.string),
  uid: s.field(5, s.string),
  resourceVersion: s.field(6, s.string),
  generation: s.field(7, s.int64),
  creationTimestamp: s.field(8, s.time, { default: {} }),
  deletionTimestamp: s.field(9, s.time, { pointer: true }),
  deletionGracePeriodSeconds: s.field(10, s.int64, { pointer: true }),
  labels: s.field(11, s.map(s.string)),
  annotations: s.field(12, s.map(s.string)),
  ownerReferences: s.field(13, s.list(ownerReference, { patchStrategy: 'merge', patchMergeKey: 'uid' })),
  finalizers: s.field(14, s.list(s.string, { patchStrategy: 'merge' })),
  managedFields: s.field(17, s.list(managedFieldsEntry)),
})
export type ObjectMeta = Infer<typeof objectMeta>

export const partialObjectMetadata = struct(
  'PartialObjectMetadata',
  {
    metadata: s.field(1, objectMeta, { default: {} }),
  },
  { typeMeta: true },
)
export type PartialObjectMetadata = Infer<typeof partialObjectMetadata>

export const partialObjectMetadataList = struct(
  'PartialObjectMetadataList',
  {
    metadata: s.field(1, listMeta, { default: {} }),
    items: s.field(2, s.list(partialObjectMetadata), { always: true, required: true }),
  },
  { typeMeta: true },
)
export type PartialObjectMetadataList = Infer<typeof partialObjectMetadataList>

export const patch = struct('Patch', {})
export type Patch = Infer<typeof patch>

export const patchOptions = struct(
  'PatchOptions',
  {
    dryRun: s.field(1, s.list(s.string)),
    force: s.field(2, s.boolean, { pointer: true }),
    fieldManager: s.field(3, s.string),
    fieldValidation: s.field(4, s.string),
  },
  { typeMeta: true },
)
export type PatchOptions = Infer<typeof patchOptions>

export const rootPaths = struct('RootPaths', {
  paths: s.field(1, s.list(s.string), { always: true, required: true }),
})
export type RootPaths = Infer<typeof rootPaths>

export const statusCause = struct('StatusCause', {
  reason: s.field(1, s.string),
  message: s.field(2, s.string),
  field: s.field(3, s.string),
})
export type StatusCause = Infer<typeof statusCause>

export const statusDetails = struct('StatusDetails', {
  name: s.field(1, s.string),
  group: s.field(2, s.string),
  kind: s.field(3, s.string),
  uid: s.field(6, s.string),
  causes: s.field(4, s.list(statusCause)),
  retryAfterSeconds: s.field(5, s.int32),
})
export type StatusDetails = Infer<typeof statusDetails>

export const status = struct(
  'Status',
  {
    metadata: s.field(1, listMeta, { default: {} }),
    status: s.field(2, s.string),
    message: s.field(3, s.string),
    reason: s.field(4, s.string),
    details: s.field(5, statusDetails, { pointer: true }),
    code: s.field(6, s.int32),
  },
  { typeMeta: true },
)
export type Status = Infer<typeof status>

export const typeMeta = struct('TypeMeta', {
  kind: s.field(1, s.string),
  apiVersion: s.field(2, s.string),
})
export type TypeMeta = Infer<typeof typeMeta>

export const tableColumnDefinition = struct(
  'TableColumnDefinition',
  {
    name: s.jsonField(s.string, { always: true, required: true, default: '' }),
    type: s.jsonField(s.string, { always: true, required: true, default: '' }),
    format: s.jsonField(s.string, { always: true, required: true, default: '' }),
    description: s.jsonField(s.string, { always: true, required: true, default: '' }),
    priority: s.jsonField(s.int32, { always: true, required: true, default: 0 }),
  },
  { noProto: true },
)
export type TableColumnDefinition = Infer<typeof tableColumnDefinition>

export const tableRowCondition = struct(
  'TableRowCondition',
  {
    type: s.jsonField(s.string, { always: true, required: true, default: '' }),
    status: s.jsonField(s.string, { always: true, required: true, default: '' }),
    reason: s.jsonField(s.string),
    message: s.jsonField(s.string),
  },
  { noProto: true },
)
export type TableRowCondition = Infer<typeof tableRowCondition>

export const tableRow = struct(
  'TableRow',
  {
    cells: s.jsonField(s.list(s.any('json')), { always: true, required: true }),
    conditions: s.jsonField(s.list(tableRowCondition)),
    object: s.jsonField(s.any('raw'), { default: {} }),
  },
  { noProto: true },
)
export type TableRow = Infer<typeof tableRow>

export const table = struct(
  'Table',
  {
    ...s.embed(0, typeMeta),
    metadata: s.jsonField(listMeta, { default: {} }),
    columnDefinitions: s.jsonField(s.list(tableColumnDefinition), { always: true, required: true }),
    rows: s.jsonField(s.list(tableRow), { always: true, required: true }),
  },
  { noProto: true },
)
export type Table = Infer<typeof table>

export const tableOptions = struct(
  'TableOptions',
  {
    includeObject: s.field(1, s.string),
  },
  { typeMeta: true },
)
export type TableOptions = Infer<typeof tableOptions>

export const timestamp = struct('Timestamp', {
  seconds: s.field(1, s.int64, { always: true, required: true, default: 0 }),
  nanos: s.field(2, s.int32, { always: true, required: true, default: 0 }),
})
export type Timestamp = Infer<typeof timestamp>

export const runtimeTypeMeta = struct('RuntimeTypeMeta', {
  apiVersion: s.field(1, s.string),
  kind: s.field(2, s.string),
})
export type RuntimeTypeMeta = Infer<typeof runtimeTypeMeta>

export const updateOptions = struct(
  'UpdateOptions',
  {
    dryRun: s.field(1, s.list(s.string)),
    fieldManager: s.field(2, s.string),
    fieldValidation: s.field(3, s.string),
  },
  { typeMeta: true },
)
export type UpdateOptions = Infer<typeof updateOptions>

export const watchEvent = struct('WatchEvent', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  object: s.field(2, s.any('raw'), { always: true, required: true, default: {} }),
})
export type WatchEvent = Infer<typeof watchEvent>
