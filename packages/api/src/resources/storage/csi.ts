// CSIDriver, CSINode and CSIStorageCapacity.

import { asNextGeneration } from '../../api/definition/generation.js'
import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import {
  checkEach,
  checkNotNegative,
  checkOptional,
  checkOptionalChoice,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
  joined,
  noErrors,
} from '../../api/validation/checks.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { dnsSubdomain, qualifiedName } from '../../api/validation/name-formats.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { deprecatedNodeLabels, selectorWarnings } from '../core/node/node-selector.js'
import { checkQuantityNotNegative } from '../core/pod-spec/resource-requirements.js'
import { withMissing } from '../core/pod-spec/visit-containers.js'
import { ageColumn, countColumn, flagColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { validateDriverName } from '../resource/resource-claims.js'
import {
  type CSIDriver,
  type CSIDriverSpec,
  type CSINode,
  type CSINodeDriver,
  type CSIStorageCapacity,
  csiDriver as csiDriverSchema,
  csiDriverSpec,
  csiNodeDriver,
  csiNode as csiNodeSchema,
  csiStorageCapacity as csiStorageCapacitySchema,
  type TokenRequest,
} from './v1.schema.js'
import { csiStorageCapacity as betaSchema } from './v1beta1.schema.js'

const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes = ['Persistent', 'Ephemeral']
const selinuxGate = 'SELinuxMountReadWriteOncePod'
const minTokenSeconds = 600
const maxTokenSeconds = 2 ** 32

function withCsiDriverDefaults(driver: CSIDriver, { gates }: RuleContext): CSIDriver {
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

function validateCsiDriver({ spec = {} }: CSIDriver, { gates }: RuleContext): readonly FieldError[] {
  const { attachRequired, podInfoOnMount, storageCapacity, fsGroupPolicy, tokenRequests, volumeLifecycleModes = [], seLinuxMount } = spec
  const checkPresent = (value: unknown, field: string): readonly FieldError[] => (value === undefined ? [required(field)] : noErrors)
  return joined(
    checkPresent(attachRequired, 'spec.attachedRequired'),
    checkPresent(podInfoOnMount, 'spec.podInfoOnMount'),
    checkPresent(storageCapacity, 'spec.storageCapacity'),
    checkPresent(fsGroupPolicy, 'spec.fsGroupPolicy'),
    checkOptionalChoice(fsGroupPolicy, 'spec.fsGroupPolicy', fsGroupPolicies),
    validateTokens(tokenRequests, 'spec.tokenRequests'),
    volumeLifecycleModes
      .filter((mode) => !lifecycleModes.includes(mode))
      .map((mode) => notSupported('spec.volumeLifecycleModes', mode, lifecycleModes)),
    gates(selinuxGate) ? checkPresent(seLinuxMount, 'spec.seLinuxMount') : noErrors,
  )
}

function validateTokens(requests: readonly TokenRequest[] | undefined, field: string): readonly FieldError[] {
  const audiences = new Set<string>()
  return checkEach(requests, field, ({ audience = '', expirationSeconds }, at) => {
    if (audiences.has(audience)) return [duplicate(`${at}.audience`, audience)]
    audiences.add(audience)
    if (expirationSeconds === undefined) return noErrors
    const secondsField = `${at}.expirationSeconds`
    return joined(
      expirationSeconds < minTokenSeconds
        ? [invalid(secondsField, expirationSeconds, 'may not specify a duration less than 10 minutes')]
        : noErrors,
      expirationSeconds > maxTokenSeconds
        ? [invalid(secondsField, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')]
        : noErrors,
    )
  })
}

// [field, name of the field in errors].
const immutableFields = [
  ['attachRequired', 'attachedRequired'],
  ['fsGroupPolicy', 'fsGroupPolicy'],
  ['podInfoOnMount', 'podInfoOnMount'],
  ['volumeLifecycleModes', 'volumeLifecycleModes'],
] as const

/** Validates tokenRequests again, as in kube-apiserver. */
const validateCsiDriverUpdate = (next: CSIDriver, old: CSIDriver): readonly FieldError[] =>
  joined(
    ...immutableFields.map(([name, reportedName]) => checkUnchanged(next.spec?.[name], old.spec?.[name], `spec.${reportedName}`)),
    validateTokens(next.spec?.tokenRequests, 'spec.tokenRequests'),
  )

function withoutGatedField(next: CSIDriver, old: CSIDriver | undefined, { gates }: RuleContext): CSIDriver {
  if (gates(selinuxGate) || next.spec?.seLinuxMount === undefined || old?.spec?.seLinuxMount !== undefined) return next
  const { seLinuxMount, ...spec } = next.spec
  return { ...next, spec }
}

/** Fields whose changes increase the generation. */
const generationFields = ({ tokenRequests, requiresRepublish, seLinuxMount }: CSIDriverSpec = {}): object => ({
  tokenRequests,
  requiresRepublish,
  seLinuxMount,
})

function prepareCsiDriverUpdate(next: CSIDriver, old: CSIDriver, context: RuleContext): CSIDriver {
  const prepared = withoutGatedField(next, old, context)
  const isSame = sameBySchema(csiDriverSpec, generationFields(prepared.spec), generationFields(old.spec))
  return isSame ? prepared : asNextGeneration(prepared, old)
}

export const csiDriver = defineResource<CSIDriver>({
  group: { stem: 'storage' },
  kind: 'CSIDriver',
  resource: 'csidrivers',
  namespaced: false,
  versions: [{ name: 'v1', schema: csiDriverSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: withCsiDriverDefaults,
  prepareCreate: (driver, context) => withoutGatedField(driver, undefined, context),
  prepareUpdate: prepareCsiDriverUpdate,
  validate: validateCsiDriver,
  validateUpdate: validateCsiDriverUpdate,
  checks: { update: ['metadataChange', 'validate', 'validateUpdate'] },
  versionRequiredOnUpdate: true,
  deleteReturnsObject: true,
  table: tableOf<CSIDriver>(
    nameColumn,
    flagColumn('AttachRequired', 'Whether volumes are attached before they are mounted.', ({ spec = {} }) => spec.attachRequired ?? true),
    flagColumn('PodInfoOnMount', 'Whether the driver gets pod information on mount.', ({ spec = {} }) => spec.podInfoOnMount ?? false),
    flagColumn(
      'StorageCapacity',
      'Whether scheduling considers the available storage capacity.',
      ({ spec = {} }) => spec.storageCapacity ?? false,
    ),
    textColumn(
      'TokenRequests',
      'Audiences of the tokens of the driver.',
      ({ spec = {} }) => spec.tokenRequests?.map(({ audience = '' }) => audience).join(',') ?? '<unset>',
    ),
    flagColumn('RequiresRepublish', 'Whether volumes are republished periodically.', ({ spec = {} }) => spec.requiresRepublish ?? false),
    textColumn('Modes', 'Lifecycle modes of volumes.', ({ spec = {} }) => (spec.volumeLifecycleModes ?? []).join(',') || '<none>'),
    ageColumn,
  ),
})

const maxNodeIdBytes = 256

function validateCsiNode({ spec }: CSINode): readonly FieldError[] {
  const names = new Set<string>()
  return checkEach(spec?.drivers, 'spec.drivers', (driver, at) => {
    const { name = '', nodeID = '', allocatable } = driver
    const isRepeated = names.has(name)
    names.add(name)
    return joined(
      validateDriverName(name, `${at}.name`),
      nodeID === '' ? [required(`${at}.nodeID`)] : noErrors,
      byteLength(nodeID) > maxNodeIdBytes ? [invalid(`${at}.nodeID`, nodeID, `must be ${maxNodeIdBytes} characters or less`)] : noErrors,
      checkNotNegative(allocatable?.count ?? 0, `${at}.allocatable.count`),
      isRepeated ? [duplicate(`${at}.name`, name)] : noErrors,
      validateTopologyKeys(driver, at),
    )
  })
}

/** Errors have the path of the driver, not of the key, as in kube-apiserver. */
function validateTopologyKeys({ topologyKeys = [] }: CSINodeDriver, field: string): readonly FieldError[] {
  return checkEach(topologyKeys, field, (key, _, i) =>
    joined(
      key === '' ? [required(field)] : noErrors,
      topologyKeys.indexOf(key) === i ? noErrors : [duplicate(field, key)],
      qualifiedName(key).map((problem) => invalid(field, key, problem)),
    ),
  )
}

/** Drivers may be added and removed, not changed. */
function validateCsiNodeUpdate(next: CSINode, old: CSINode): readonly FieldError[] {
  const oldDrivers = new Map((old.spec?.drivers ?? []).map((driver) => [driver.name, driver]))
  const changed = (next.spec?.drivers ?? []).filter((driver) => {
    const oldDriver = oldDrivers.get(driver.name)
    return oldDriver !== undefined && !sameBySchema(csiNodeDriver, driver, oldDriver)
  })
  return changed.length === 0 ? noErrors : changed.map((driver) => invalid('CSINodeDriver', driver, 'field is immutable'))
}

export const csiNode = defineResource<CSINode>({
  group: { stem: 'storage' },
  kind: 'CSINode',
  resource: 'csinodes',
  namespaced: false,
  versions: [{ name: 'v1', schema: csiNodeSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate: validateCsiNode,
  validateUpdate: validateCsiNodeUpdate,
  checks: { update: ['metadata', 'validate', 'metadata', 'validate', 'validateUpdate'] },
  versionRequiredOnUpdate: true,
  deleteReturnsObject: true,
  table: tableOf<CSINode>(
    nameColumn,
    countColumn('Drivers', 'Number of drivers on the node.', ({ spec }) => spec?.drivers?.length ?? 0),
    ageColumn,
  ),
})

const validateCsiStorageCapacity = ({ nodeTopology, storageClassName = '', capacity }: CSIStorageCapacity): readonly FieldError[] =>
  joined(
    validateLabelSelector(nodeTopology, 'nodeTopology'),
    checkText(storageClassName, 'storageClassName', dnsSubdomain),
    checkOptional(capacity, 'capacity', checkQuantityNotNegative),
  )

/** nodeTopology and storageClassName are immutable. */
const validateCsiStorageCapacityUpdate = (next: CSIStorageCapacity, old: CSIStorageCapacity): readonly FieldError[] =>
  joined(
    checkUnchanged(next.nodeTopology, old.nodeTopology, 'nodeTopology'),
    checkUnchanged(next.storageClassName ?? '', old.storageClassName ?? '', 'storageClassName'),
  )

/** Has no printer columns of its own. */
export const csiStorageCapacity = defineResource<CSIStorageCapacity>({
  group: { stem: 'storage' },
  kind: 'CSIStorageCapacity',
  resource: 'csistoragecapacities',
  namespaced: true,
  versions: [
    { name: 'v1', schema: csiStorageCapacitySchema, stored: true },
    {
      name: 'v1beta1',
      schema: betaSchema,
      deprecation: {
        deprecatedIn: '1.24',
        removedIn: '1.27',
        replacement: { group: { stem: 'storage' }, version: 'v1', kind: 'CSIStorageCapacity' },
      },
    },
  ],
  nameProblems: dnsSubdomainProblems,
  validate: validateCsiStorageCapacity,
  validateUpdate: validateCsiStorageCapacityUpdate,
  // A create is validated twice, as in kube-apiserver.
  checks: {
    create: ['metadata', 'validate', 'metadata', 'validate'],
    update: ['metadata', 'validate', 'metadataChange', 'validateUpdate'],
  },
  warnings: ({ nodeTopology }, _, { identity }) =>
    nodeTopology === undefined ? [] : selectorWarnings(nodeTopology, 'nodeTopology', deprecatedNodeLabels(identity)),
  versionRequiredOnUpdate: true,
})
