// Drivers of storage: what a driver asks of those who use it.

import { type Column, defineResource, type RuleContext } from '../../api/definition.js'
import { duplicate, type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { asNextGeneration } from '../../api/generation.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkEach, checkOptionalChoice, joined } from '../../api/validation/collect.js'
import { checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { withMissing } from '../core/pod-spec/missing-members.js'
import { type CSIDriver, type CSIDriverSpec, csiDriverSpec, csiDriver as schema, type TokenRequest } from './v1.schema.js'

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes = ['Persistent', 'Ephemeral']
const selinuxGate = 'SELinuxMountReadWriteOncePod'
const minTokenSeconds = 600
const maxTokenSeconds = 2 ** 32

function defaults(driver: CSIDriver, { gates }: RuleContext): CSIDriver {
  const spec = withMissing<CSIDriverSpec>(driver.spec ?? {}, {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    volumeLifecycleModes: ['Persistent'],
    requiresRepublish: false,
    ...(gates(selinuxGate) ? { seLinuxMount: false } : {}),
  })
  return spec === driver.spec ? driver : { ...driver, spec }
}

function validate({ spec = {} }: CSIDriver, { gates }: RuleContext): readonly FieldError[] {
  const { attachRequired, podInfoOnMount, storageCapacity, fsGroupPolicy, tokenRequests, volumeLifecycleModes = [], seLinuxMount } = spec
  const present = (value: unknown, field: string): readonly FieldError[] => (value === undefined ? [required(field)] : noErrors)
  return joined(
    present(attachRequired, 'spec.attachedRequired'),
    present(podInfoOnMount, 'spec.podInfoOnMount'),
    present(storageCapacity, 'spec.storageCapacity'),
    present(fsGroupPolicy, 'spec.fsGroupPolicy'),
    checkOptionalChoice(fsGroupPolicy, 'spec.fsGroupPolicy', groupPolicies),
    validateTokens(tokenRequests, 'spec.tokenRequests'),
    volumeLifecycleModes
      .filter((mode) => !lifecycleModes.includes(mode))
      .map((mode) => notSupported('spec.volumeLifecycleModes', mode, lifecycleModes)),
    gates(selinuxGate) ? present(seLinuxMount, 'spec.seLinuxMount') : noErrors,
  )
}

/** One token for each audience, neither too short nor too long. */
function validateTokens(requests: readonly TokenRequest[] | undefined, field: string): readonly FieldError[] {
  const audiences = new Set<string>()
  return checkEach(requests, field, ({ audience = '', expirationSeconds }, at) => {
    if (audiences.has(audience)) return [duplicate(`${at}.audience`, audience)]
    audiences.add(audience)
    if (expirationSeconds === undefined) return noErrors
    const seconds = `${at}.expirationSeconds`
    return joined(
      expirationSeconds < minTokenSeconds
        ? [invalid(seconds, expirationSeconds, 'may not specify a duration less than 10 minutes')]
        : noErrors,
      expirationSeconds > maxTokenSeconds
        ? [invalid(seconds, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')]
        : noErrors,
    )
  })
}

const fixed = [
  ['attachRequired', 'attachedRequired'],
  ['fsGroupPolicy', 'fsGroupPolicy'],
  ['podInfoOnMount', 'podInfoOnMount'],
  ['volumeLifecycleModes', 'volumeLifecycleModes'],
] as const

/** What may change is checked again with the change, and reported again. */
const validateUpdate = (next: CSIDriver, old: CSIDriver): readonly FieldError[] =>
  joined(
    ...fixed.map(([name, reported]) => checkUnchanged(next.spec?.[name], old.spec?.[name], `spec.${reported}`)),
    validateTokens(next.spec?.tokenRequests, 'spec.tokenRequests'),
  )

function withoutGatedField(next: CSIDriver, old: CSIDriver | undefined, { gates }: RuleContext): CSIDriver {
  if (gates(selinuxGate) || next.spec?.seLinuxMount === undefined || old?.spec?.seLinuxMount !== undefined) return next
  const { seLinuxMount, ...spec } = next.spec
  return { ...next, spec }
}

/** The fields whose changes those who use the driver must hear of. */
const counted = ({ tokenRequests, requiresRepublish, seLinuxMount }: CSIDriverSpec = {}): object => ({
  tokenRequests,
  requiresRepublish,
  seLinuxMount,
})

function prepareUpdate(next: CSIDriver, old: CSIDriver, context: RuleContext): CSIDriver {
  const kept = withoutGatedField(next, old, context)
  const isSame = sameBySchema(csiDriverSpec, counted(kept.spec), counted(old.spec))
  return isSame ? kept : asNextGeneration(kept, old)
}

const flagColumn = (name: string, description: string): Column => ({ name, type: 'boolean', description })

export const csiDriver = defineResource<CSIDriver>({
  group: { stem: 'storage' },
  kind: 'CSIDriver',
  resource: 'csidrivers',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (driver, context) => withoutGatedField(driver, undefined, context),
  prepareUpdate,
  validate,
  validateUpdate,
  checks: { update: ['metadataChange', 'own', 'ownChange'] },
  versionRequiredOnUpdate: true,
  deleteReturnsObject: true,
  table: {
    columns: [
      nameColumn,
      flagColumn('AttachRequired', 'Whether volumes are attached before they are mounted.'),
      flagColumn('PodInfoOnMount', 'Whether the driver is told of the pod.'),
      flagColumn('StorageCapacity', 'Whether pods wait until there is room.'),
      textColumn('TokenRequests', 'For whom the driver gets tokens.'),
      flagColumn('RequiresRepublish', 'Whether volumes are refreshed while in use.'),
      textColumn('Modes', 'How long volumes of the driver can live.'),
      ageColumn,
    ],
    cells: ({ metadata, spec = {} }, { now }) => [
      metadata?.name ?? '',
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      spec.tokenRequests?.map(({ audience = '' }) => audience).join(',') ?? '<unset>',
      spec.requiresRepublish ?? false,
      (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
