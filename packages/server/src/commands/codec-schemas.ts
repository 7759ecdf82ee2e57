// Which schema a kind has, for every kind and version of the catalogue under both identities: what the codec command looks up.

import { type GroupName, identityNames, identityOf } from '../api/identity.js'
import * as meta from '../api/meta.schema.js'
import { partialObjectMetadataListV1beta1 } from '../codec/partial-metadata.js'
import { listSchemaOf } from '../codec/protobuf.js'
import type { SchemaNode, StructNode } from '../schema/node.js'

interface GroupVersions {
  readonly group: GroupName
  readonly versions: readonly string[]
}

const stem = (name: string): GroupName => ({ stem: name })

/** One schema file each. */
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
  { group: stem('networking'), versions: ['v1', 'v1alpha1'] },
  { group: stem('node'), versions: ['v1'] },
  { group: 'policy', versions: ['v1'] },
  { group: stem('rbac.authorization'), versions: ['v1'] },
  { group: stem('resource'), versions: ['v1alpha1'] },
  { group: stem('scheduling'), versions: ['v1'] },
  { group: stem('storage'), versions: ['v1', 'v1beta1'] },
]

/** Kinds of versions that are gone, whose form is that of a later version to the byte. Others had fields that no later one has. */
const goneVersions: readonly { readonly group: GroupName; readonly version: string; readonly like: string; readonly kinds: string }[] = [
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

/** `rbac-authorization/v1`: where the schemas of a version lie. */
export const schemaPath = (group: GroupName, version: string): string =>
  `${(typeof group === 'string' ? group || 'core' : group.stem).replaceAll('.', '-')}/${version}`

/** The schema of a kind, under either identity; the event of a watch has neither a kind nor a version. */
export async function findSchema(apiVersion: string, kind: string): Promise<StructNode | undefined> {
  if (apiVersion === '' && kind === '') return meta.watchEvent
  const path = pathOf(apiVersion, kind)
  const own = path === undefined ? undefined : schemaIn(await import(`../resources/${path}.schema.js`), kind)
  return own ?? metaSchema(apiVersion, kind)
}

function pathOf(apiVersion: string, kind: string): string | undefined {
  const slash = apiVersion.indexOf('/')
  const group = apiVersion.slice(0, Math.max(slash, 0))
  const version = apiVersion.slice(slash + 1)
  const gone = goneVersions.find(
    (entry) => isNamed(entry.group, group) && entry.version === version && entry.kinds.split(' ').includes(kind),
  )
  if (gone !== undefined) return schemaPath(gone.group, gone.like)
  const found = groupVersions.find((entry) => isNamed(entry.group, group) && entry.versions.includes(version))
  return found && schemaPath(found.group, version)
}

const identities = identityNames.map(identityOf)

const isNamed = (group: GroupName, name: string): boolean => identities.some((identity) => identity.group(group) === name)

/** A kind of its own, or the list of one. */
function schemaIn(module: SchemaModule, kind: string): StructNode | undefined {
  const own = structIn(module, kind)
  if (own !== undefined || !kind.endsWith('List')) return own
  const item = structIn(module, kind.slice(0, -'List'.length))
  return item && listSchemaOf(item)
}

function structIn(module: SchemaModule, kind: string): StructNode | undefined {
  const structs = (Object.values(module) as SchemaNode[]).filter((node): node is StructNode => node.type === 'struct')
  return structs.find((node) => node.name === kind && (node.typeMeta || node.noProto))
}

/** Options, Status and discovery are known in every version of every group. */
function metaSchema(apiVersion: string, kind: string): StructNode | undefined {
  const isOlder = isNamed(stem('meta'), apiVersion.slice(0, apiVersion.indexOf('/'))) && apiVersion.endsWith('/v1beta1')
  return isOlder && kind === 'PartialObjectMetadataList' ? partialObjectMetadataListV1beta1 : structIn(meta, kind)
}
