// PersistentVolume: defaults by source, feature-gated secret, printer columns.

import { defineResource, type RuleContext } from '../../../api/definition/resource-definition.js'
import type { FieldError } from '../../../api/field-error.js'
import { dnsSubdomainProblems, joined } from '../../../api/validation/checks.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../../printer-columns.js'
import { statusSubresource } from '../../status-subresource.js'
import { deprecatedNodeLabels, termsWarnings } from '../node/node-selector.js'
import { roundedResources } from '../pod-spec/resource-requirements.js'
import { withChanged, withMissing } from '../pod-spec/visit-containers.js'
import { type PersistentVolume, type PersistentVolumeSource, type PersistentVolumeSpec, persistentVolume as schema } from '../v1.schema.js'
import { validateMountAnnotation, validateVolumeChange, validateVolumeSpec } from './persistent-volume-validation.js'
import { describeAccessModes, describeClass, describePhase } from './volume-access-modes.js'

const sourceDefaults: { readonly [Name in keyof PersistentVolumeSource]?: PersistentVolumeSource[Name] } = {
  hostPath: { type: '' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  iscsi: { iscsiInterface: 'default' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
}
const namesWithDefaults = Object.keys(sourceDefaults) as readonly (keyof PersistentVolumeSource)[]

export function withVolumeSpecDefaults(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  let next = withChanged(spec, 'capacity', roundedResources)
  for (const name of namesWithDefaults) {
    if (next[name] !== undefined) next = withChanged(next, name, (source) => withMissing(source, sourceDefaults[name] as typeof source))
  }
  return next
}

function defaults(volume: PersistentVolume): PersistentVolume {
  const { persistentVolumeReclaimPolicy = '', volumeMode } = volume.spec ?? {}
  const spec = withVolumeSpecDefaults(volume.spec ?? {})
  const isComplete = persistentVolumeReclaimPolicy !== '' && volumeMode !== undefined && (volume.status?.phase ?? '') !== ''
  if (isComplete) return spec === volume.spec ? volume : { ...volume, spec }
  return {
    ...volume,
    spec: {
      ...spec,
      persistentVolumeReclaimPolicy: persistentVolumeReclaimPolicy === '' ? 'Retain' : persistentVolumeReclaimPolicy,
      volumeMode: volumeMode ?? 'Filesystem',
    },
    status: { ...volume.status, phase: volume.status?.phase || 'Pending' },
  }
}

export function withoutGatedSecret(
  spec: PersistentVolumeSpec,
  old: PersistentVolumeSpec | undefined,
  context: RuleContext,
): PersistentVolumeSpec {
  const isInUse = old?.csi?.nodeExpandSecretRef !== undefined
  if (spec.csi?.nodeExpandSecretRef === undefined || isInUse || context.gates('CSINodeExpandSecret')) return spec
  const { nodeExpandSecretRef, ...csi } = spec.csi
  return { ...spec, csi }
}

const validateSpec = ({ metadata, spec = {} }: PersistentVolume, context: RuleContext, old?: PersistentVolume): readonly FieldError[] =>
  validateVolumeSpec(spec, { field: 'spec', volumeName: metadata?.name ?? '', context, ...(old?.spec && { old: old.spec }) })

function describeClaim({ spec }: PersistentVolume): string {
  const claim = spec?.claimRef
  return claim === undefined ? '' : `${claim.namespace ?? ''}/${claim.name ?? ''}`
}

export const persistentVolume = defineResource<PersistentVolume>({
  group: '',
  kind: 'PersistentVolume',
  resource: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (volume, context) => ({
    ...volume,
    spec: withoutGatedSecret(volume.spec ?? {}, undefined, context),
    status: { phase: 'Pending' },
  }),
  prepareUpdate: (next, old, context) => ({
    ...next,
    spec: withoutGatedSecret(next.spec ?? {}, old.spec, context),
    status: old.status ?? { phase: 'Pending' },
  }),
  validate: (volume, context, old) => joined(validateSpec(volume, context, old), validateMountAnnotation(volume, context.identity)),
  validateUpdate: (next, old, context) => joined(validateSpec(next, context, old), validateVolumeChange(next, old, context.identity)),
  checks: { update: ['metadata', 'validate', 'metadata', 'validateUpdate'] },
  warnings: ({ spec }, _, { identity }) =>
    termsWarnings(
      spec?.nodeAffinity?.required?.nodeSelectorTerms,
      'spec.nodeAffinity.required.nodeSelectorTerms',
      deprecatedNodeLabels(identity),
    ),
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [statusSubresource<PersistentVolume>()],
  table: tableOf<PersistentVolume>(
    nameColumn,
    textColumn('Capacity', 'Capacity of the volume.', ({ spec }) => spec?.capacity?.['storage'] ?? '0'),
    textColumn('Access Modes', 'Access modes, abbreviated.', ({ spec }) => describeAccessModes(spec?.accessModes)),
    textColumn(
      'Reclaim Policy',
      'What happens to the volume when its claim is deleted.',
      ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    textColumn('Status', 'Phase of the volume.', describePhase),
    textColumn('Claim', 'Claim to which the volume is bound.', describeClaim),
    textColumn('StorageClass', 'Storage class.', describeClass),
    textColumn('Reason', 'Reason of the failure.', ({ status }) => status?.reason ?? ''),
    ageColumn,
    textColumn('VolumeMode', 'Filesystem or Block.', ({ spec }) => spec?.volumeMode ?? '<unset>', 1),
  ),
})
