// Claims for storage: what a user wants, and the volume that was found for it.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { validateClaimChange, validateClaimStatus } from './claim-change.js'
import { withDataSources } from './claim-data-sources.js'
import { validateClaimSpec } from './claim-spec.js'
import { withChanged } from './pod-spec/missing-members.js'
import { roundedResources } from './pod-spec/quantities.js'
import { withClaimDefaults } from './pod-spec/volume-defaults.js'
import { claimWarnings } from './pod-spec/warnings.js'
import {
  type PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  type PersistentVolumeClaimStatus,
  persistentVolumeClaim as schema,
} from './v1.schema.js'
import { describeAccessModes, describeClass } from './volume-modes.js'

const withStatusDefaults = (status: PersistentVolumeClaimStatus): PersistentVolumeClaimStatus =>
  withChanged(
    withChanged((status.phase ?? '') === '' ? { ...status, phase: 'Pending' } : status, 'capacity', roundedResources),
    'allocatedResources',
    roundedResources,
  )

export function withPersistentClaimDefaults(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const spec = withClaimDefaults(claim.spec ?? {})
  const status = withStatusDefaults(claim.status ?? {})
  return spec === claim.spec && status === claim.status ? claim : { ...claim, spec, status }
}

/** Recovery from a failed resize is not ready for everybody yet. */
function withoutGatedStatus(next: PersistentVolumeClaim, old: PersistentVolumeClaim, { gates }: RuleContext): PersistentVolumeClaim {
  if (gates('RecoverVolumeExpansionFailure') || next.status === undefined) return next
  const { allocatedResources, resizeStatus, ...rest } = next.status
  const { allocatedResources: before, resizeStatus: resizing } = old.status ?? {}
  return {
    ...next,
    status: {
      ...rest,
      ...(allocatedResources === undefined || before === undefined ? {} : { allocatedResources }),
      ...(resizeStatus === undefined || resizing === undefined ? {} : { resizeStatus }),
    },
  }
}

/** Resources of a claim are those of containers in form, and claims of devices mean nothing there. */
function withoutClaims(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  if (spec.resources?.claims === undefined) return spec
  const { claims, ...resources } = spec.resources
  return { ...spec, resources }
}

export const persistentVolumeClaim = defineResource<PersistentVolumeClaim>({
  group: '',
  kind: 'PersistentVolumeClaim',
  resource: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: withPersistentClaimDefaults,
  prepareCreate: (claim, context) => ({
    ...claim,
    spec: withDataSources(withoutClaims(claim.spec ?? {}), undefined, context),
    status: { phase: 'Pending' },
  }),
  prepareUpdate: (next, old, context) => ({
    ...next,
    spec: withDataSources(withoutClaims(next.spec ?? {}), old.spec, context),
    status: old.status ?? { phase: 'Pending' },
  }),
  validate: ({ spec }, context) => validateClaimSpec(spec ?? {}, 'spec', context),
  validateUpdate: validateClaimChange,
  checks: { update: ['metadata', 'own', 'metadataChange', 'metadata', 'own', 'ownChange'] },
  warnings: ({ spec }) => claimWarnings(spec, 'spec'),
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old, context) => withoutGatedStatus({ ...next, spec: old.spec ?? {} }, old, context),
      validateUpdate: validateClaimStatus,
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      textColumn('Status', 'Phase of the life of the claim.'),
      textColumn('Volume', 'The volume that was found.'),
      textColumn('Capacity', 'How much the volume holds.'),
      textColumn('Access Modes', 'Who may use it at a time, in short.'),
      textColumn('StorageClass', 'Class of the volume that is wanted.'),
      ageColumn,
      textColumn('VolumeMode', 'File system or block device.', 1),
    ],
    cells: ({ metadata, spec, status }, { now, identity }) => {
      const isBound = (spec?.volumeName ?? '') !== ''
      return [
        metadata?.name ?? '',
        metadata?.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
        spec?.volumeName ?? '',
        isBound ? (status?.capacity?.['storage'] ?? '0') : '',
        isBound ? describeAccessModes(status?.accessModes) : '',
        describeClass(metadata, spec?.storageClassName, identity),
        ageOf(metadata?.creationTimestamp, now),
        spec?.volumeMode ?? '<unset>',
      ]
    },
  },
})
