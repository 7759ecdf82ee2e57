// Persistent volumes: storage that outlives the pods that use it.

import { defineResource, type RuleContext } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { oldNodeLabels, termsWarnings } from './old-node-labels.js'
import { withVolumeSpecDefaults } from './persistent-volume-defaults.js'
import { validateMountAnnotation, validateVolumeChange, validateVolumeSpec } from './persistent-volume-rules.js'
import { type PersistentVolume, type PersistentVolumeSpec, persistentVolume as schema } from './v1.schema.js'
import { describeAccessModes, describeClass } from './volume-modes.js'

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

/** A field of drivers that is not ready for everybody yet. */
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
  checks: { update: ['metadata', 'own', 'metadata', 'ownChange'] },
  warnings: ({ spec }, _, { identity }) =>
    termsWarnings(spec?.nodeAffinity?.required?.nodeSelectorTerms, 'spec.nodeAffinity.required.nodeSelectorTerms', oldNodeLabels(identity)),
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }),
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      textColumn('Capacity', 'How much it holds.'),
      textColumn('Access Modes', 'Who may use it at a time, in short.'),
      textColumn('Reclaim Policy', 'What becomes of it when its claim goes.'),
      textColumn('Status', 'Phase of the life of the volume.'),
      textColumn('Claim', 'The claim to which it is bound.'),
      textColumn('StorageClass', 'Class to which it belongs.'),
      textColumn('Reason', 'Why it failed, in one word.'),
      ageColumn,
      textColumn('VolumeMode', 'File system or block device.', 1),
    ],
    cells: (volume, { now, identity }) => {
      const { metadata, spec, status } = volume
      return [
        metadata?.name ?? '',
        spec?.capacity?.['storage'] ?? '0',
        describeAccessModes(spec?.accessModes),
        spec?.persistentVolumeReclaimPolicy ?? '',
        metadata?.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
        describeClaim(volume),
        describeClass(metadata, spec?.storageClassName, identity),
        status?.reason ?? '',
        ageOf(metadata?.creationTimestamp, now),
        spec?.volumeMode ?? '<unset>',
      ]
    },
  },
})
