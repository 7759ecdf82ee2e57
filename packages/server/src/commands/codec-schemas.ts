// Schemas of built-in kinds, also of removed versions, for the command codec; API groups may have the names of either --identity.

import { type GroupName, identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import { partialObjectMetadataListV1beta1 } from '@cluster-apiserver/api/codec/partial-metadata.js'
import { listSchemaOf } from '@cluster-apiserver/api/codec/protobuf-envelope.js'
import { loadSchemas } from '@cluster-apiserver/api/resources/load-schemas.js'
import type { SchemaNode, StructNode } from '@cluster-apiserver/api/schema/node.js'

interface GroupVersions {
  readonly group: GroupName
  readonly versions: readonly string[]
}

const stem = (name: string): GroupName => ({ stem: name })

export const groupVersions: readonly GroupVersions[] = [
  { group: '', versions: ['v1'] },
  { group: stem('admission'), versions: ['v1', 'v1beta1'] },
  { group: stem('admissionregistration'), versions: ['v1', 'v1alpha1'] },
  { group: stem('apidiscovery'), versions: ['v2beta1'] },
  { group: stem('apiextensions'), versions: ['v1'] },
  { group: stem('apiregistration'), versions: ['v1'] },
  { group: 'apps', versions: ['v1'] },
  { group: stem('audit'), versions: ['v1'] },
  { group: stem('authentication'), versions: ['v1', 'v1alpha1', 'v1beta1'] },
  { group: stem('authorization'), versions: ['v1', 'v1beta1'] },
  { group: 'autoscaling', versions: ['v1', 'v2'] },
  { group: 'batch', versions: ['v1'] },
  { group: stem('certificates'), versions: ['v1'] },
  { group: stem('coordination'), versions: ['v1'] },
  { group: stem('discovery'), versions: ['v1'] },
  { group: stem('events'), versions: ['v1'] },
  { group: stem('flowcontrol.apiserver'), versions: ['v1beta2', 'v1beta3'] },
  { group: stem('imagepolicy'), versions: ['v1alpha1'] },
  { group: stem('internal.apiserver'), versions: ['v1alpha1'] },
  { group: stem('metrics'), versions: ['v1beta1'] },
  { group: stem('networking'), versions: ['v1', 'v1alpha1'] },
  { group: stem('node'), versions: ['v1'] },
  { group: 'policy', versions: ['v1'] },
  { group: stem('rbac.authorization'), versions: ['v1'] },
  { group: stem('resource'), versions: ['v1alpha1'] },
  { group: stem('scheduling'), versions: ['v1'] },
  { group: stem('storage'), versions: ['v1', 'v1beta1'] },
]

/** Removed versions, and the later version `like` with the same format. */
const removedVersions: readonly { readonly group: GroupName; readonly version: string; readonly like: string; readonly kinds: string }[] = [
  {
    group: stem('admissionregistration'),
    version: 'v1beta1',
    like: 'v1',
    kinds: 'MutatingWebhookConfiguration ValidatingWebhookConfiguration',
  },
  { group: stem('apiregistration'), version: 'v1beta1', like: 'v1', kinds: 'APIService' },
  { group: 'apps', version: 'v1beta2', like: 'v1', kinds: 'ControllerRevision Deployment ReplicaSet StatefulSet' },
  { group: 'autoscaling', version: 'v2beta2', like: 'v2', kinds: 'HorizontalPodAutoscaler' },
  { group: 'batch', version: 'v1beta1', like: 'v1', kinds: 'CronJob' },
  { group: stem('certificates'), version: 'v1beta1', like: 'v1', kinds: 'CertificateSigningRequest' },
  { group: stem('coordination'), version: 'v1beta1', like: 'v1', kinds: 'Lease' },
  { group: stem('events'), version: 'v1beta1', like: 'v1', kinds: 'Event' },
  { group: stem('flowcontrol.apiserver'), version: 'v1alpha1', like: 'v1beta2', kinds: 'FlowSchema PriorityLevelConfiguration' },
  { group: stem('flowcontrol.apiserver'), version: 'v1beta1', like: 'v1beta2', kinds: 'FlowSchema PriorityLevelConfiguration' },
  { group: stem('networking'), version: 'v1beta1', like: 'v1', kinds: 'IngressClass' },
  { group: stem('node'), version: 'v1beta1', like: 'v1', kinds: 'RuntimeClass' },
  { group: 'policy', version: 'v1beta1', like: 'v1', kinds: 'Eviction PodDisruptionBudget' },
  { group: stem('rbac.authorization'), version: 'v1beta1', like: 'v1', kinds: 'ClusterRole ClusterRoleBinding Role RoleBinding' },
  { group: stem('scheduling'), version: 'v1alpha1', like: 'v1', kinds: 'PriorityClass' },
  { group: stem('scheduling'), version: 'v1beta1', like: 'v1', kinds: 'PriorityClass' },
  { group: stem('storage'), version: 'v1alpha1', like: 'v1', kinds: 'CSIStorageCapacity VolumeAttachment' },
  { group: stem('storage'), version: 'v1beta1', like: 'v1', kinds: 'CSIDriver CSINode StorageClass VolumeAttachment' },
]

type SchemaModule = { readonly [name: string]: unknown }

/** Path of the schemas of a version, such as `rbac-authorization/v1`. */
export const schemaPath = (group: GroupName, version: string): string =>
  `${(typeof group === 'string' ? group || 'core' : group.stem).replaceAll('.', '-')}/${version}`

export async function findSchema(apiVersion: string, kind: string): Promise<StructNode | undefined> {
  if (apiVersion === '' && kind === '') return meta.watchEvent
  const path = pathOf(apiVersion, kind)
  const schema = path === undefined ? undefined : schemaIn(await loadSchemas(path), kind)
  return schema ?? metaSchema(apiVersion, kind)
}

function pathOf(apiVersion: string, kind: string): string | undefined {
  const slash = apiVersion.indexOf('/')
  const group = apiVersion.slice(0, Math.max(slash, 0))
  const version = apiVersion.slice(slash + 1)
  const removed = removedVersions.find(
    (entry) => isNamed(entry.group, group) && entry.version === version && entry.kinds.split(' ').includes(kind),
  )
  if (removed !== undefined) return schemaPath(removed.group, removed.like)
  const found = groupVersions.find((entry) => isNamed(entry.group, group) && entry.versions.includes(version))
  return found && schemaPath(found.group, version)
}

const identities = identityNames.map(identityOf)

const isNamed = (group: GroupName, name: string): boolean => identities.some((identity) => identity.group(group) === name)

function schemaIn(module: SchemaModule, kind: string): StructNode | undefined {
  const struct = structIn(module, kind)
  if (struct !== undefined || !kind.endsWith('List')) return struct
  const item = structIn(module, kind.slice(0, -'List'.length))
  return item && listSchemaOf(item)
}

function structIn(module: SchemaModule, kind: string): StructNode | undefined {
  const structs = (Object.values(module) as SchemaNode[]).filter((node): node is StructNode => node.type === 'struct')
  return structs.find((node) => node.name === kind && (node.typeMeta || node.noProto))
}

/** Options, Status and discovery exist in every version of every group. */
function metaSchema(apiVersion: string, kind: string): StructNode | undefined {
  const isOlder = isNamed(stem('meta'), apiVersion.slice(0, apiVersion.indexOf('/'))) && apiVersion.endsWith('/v1beta1')
  return isOlder && kind === 'PartialObjectMetadataList' ? partialObjectMetadataListV1beta1 : structIn(meta, kind)
}
