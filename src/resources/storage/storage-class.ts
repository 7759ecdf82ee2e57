// Storage classes: who makes volumes, and how.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import type { Identity } from '../../api/identity.js'
import type { ObjectMeta } from '../../api/object.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkOptionalChoice, joined } from '../../api/validation/collect.js'
import { checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameValue } from '../../api/validation/same-value.js'
import { qualifiedName } from '../../api/validation/text-rules.js'
import { isSentEmpty } from '../../schema/sent-empty.js'
import { oldNodeLabels, told } from '../core/old-node-labels.js'
import { withMissing } from '../core/pod-spec/missing-members.js'
import { validateTopologies } from './allowed-topologies.js'
import { checkParameters } from './parameters.js'
import { type StorageClass, storageClass as schema } from './v1.schema.js'

const reclaimPolicies = ['Delete', 'Retain']
const bindingModes = ['Immediate', 'WaitForFirstConsumer']
const maxParameters = 512

const validate = ({
  provisioner = '',
  parameters,
  reclaimPolicy,
  volumeBindingMode,
  allowedTopologies,
}: StorageClass): readonly FieldError[] =>
  joined(
    provisioner === ''
      ? [required('provisioner')]
      : qualifiedName(provisioner.toLowerCase()).map((problem) => invalid('provisioner', provisioner, problem)),
    checkParameters(parameters, 'parameters', { maxCount: maxParameters }),
    (reclaimPolicy ?? '') === '' ? noErrors : checkOptionalChoice(reclaimPolicy, 'reclaimPolicy', reclaimPolicies),
    volumeBindingMode === undefined
      ? [required('volumeBindingMode')]
      : checkOptionalChoice(volumeBindingMode, 'volumeBindingMode', bindingModes),
    validateTopologies(allowedTopologies, 'allowedTopologies'),
  )

/** Volumes were made by what the class said; only what does not bear on them may change. */
function validateUpdate(next: StorageClass, old: StorageClass): readonly FieldError[] {
  const refuse = (name: string, isSame: boolean): readonly FieldError[] =>
    isSame ? noErrors : [forbidden(name, `updates to ${name} are forbidden.`)]
  return joined(
    refuse('parameters', !isSentEmpty(next, 'parameters') && sameValue(next.parameters ?? {}, old.parameters ?? {})),
    refuse('provisioner', (next.provisioner ?? '') === (old.provisioner ?? '')),
    refuse('reclaimPolicy', next.reclaimPolicy === old.reclaimPolicy),
    checkUnchanged(next.volumeBindingMode, old.volumeBindingMode, 'volumeBindingMode'),
  )
}

/** Whether claims that name no class get this one. */
export const isDefaultClass = (metadata: ObjectMeta | undefined, identity: Identity): boolean =>
  ['storageclass', 'storageclass.beta'].some((domain) => metadata?.annotations?.[identity.label('is-default-class', domain)] === 'true')

const cells = (object: StorageClass, { now, identity }: RuleContext): readonly unknown[] => {
  const { metadata, provisioner, reclaimPolicy, volumeBindingMode, allowVolumeExpansion } = object
  const name = metadata?.name ?? ''
  return [
    isDefaultClass(metadata, identity) ? `${name} (default)` : name,
    provisioner ?? '',
    reclaimPolicy ?? 'Delete',
    volumeBindingMode ?? 'Immediate',
    allowVolumeExpansion ?? false,
    ageOf(metadata?.creationTimestamp, now),
  ]
}

export const storageClass = defineResource<StorageClass>({
  group: { stem: 'storage' },
  kind: 'StorageClass',
  resource: 'storageclasses',
  shortNames: ['sc'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (object) => withMissing(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate,
  validateUpdate,
  checks: { update: ['metadata', 'own', 'metadataChange', 'ownChange'] },
  warnings: ({ allowedTopologies = [] }, _, { identity }) =>
    allowedTopologies.flatMap(({ matchLabelExpressions = [] }, i) =>
      matchLabelExpressions.flatMap(({ key = '' }, j) =>
        told(oldNodeLabels(identity).get(key), (message) => `allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${message}`),
      ),
    ),
  deleteReturnsObject: true,
  table: {
    columns: [
      nameColumn,
      textColumn('Provisioner', 'Who makes the volumes.'),
      textColumn('ReclaimPolicy', 'What becomes of volumes when their claims go.'),
      textColumn('VolumeBindingMode', 'When volumes are made and bound.'),
      textColumn('AllowVolumeExpansion', 'Whether volumes can grow.'),
      ageColumn,
    ],
    cells,
  },
})
