// StorageClass: provisioner, parameters, allowed topologies, default class.

import * as columns from '../../api/definition/printer-columns.js'
import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, forbidden, invalid, required, tooLong } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import type { ObjectMeta } from '../../api/object.js'
import { byteLength } from '../../api/validation/byte-length.js'
import {
  checkEach,
  checkOptionalChoice,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
  joined,
  noErrors,
} from '../../api/validation/checks.js'
import { qualifiedName } from '../../api/validation/name-formats.js'
import { sameValue } from '../../api/validation/same-value.js'
import { compareText, sortTexts } from '../../base/text-order.js'
import { isSentEmpty } from '../../schema/json/sent-empty.js'
import { deprecatedNodeLabels, warningFor } from '../core/node/node-selector.js'
import { withMissing } from '../core/pod-spec/visit-containers.js'
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from '../core/v1.schema.js'
import { ageColumn, tableOf, textColumn } from '../printer-columns.js'
import { type StorageClass, storageClass as schema } from './v1.schema.js'

const maxReportedDuplicates = 100

/** Reports one error per earlier equal term, as in kube-apiserver, but at most maxReportedDuplicates per term. */
function validateTopologies(terms: readonly TopologySelectorTerm[] | undefined, field: string): readonly FieldError[] {
  // kube-apiserver preallocates empty terms, so a term without requirements repeats each of them.
  const seen = new Map([[keyOf({}), terms?.length ?? 0]])
  return checkEach(terms, field, (term, at) => {
    const key = keyOf(term)
    const before = seen.get(key) ?? 0
    seen.set(key, before + 1)
    const repetitions = Array.from({ length: Math.min(before, maxReportedDuplicates) }, () => duplicate(`${at}.matchLabelExpressions`, ''))
    return joined(validateTerm(term, `${at}.matchLabelExpressions`), repetitions)
  })
}

const keyOf = ({ matchLabelExpressions = [] }: TopologySelectorTerm): string =>
  JSON.stringify(
    Object.entries(
      Object.fromEntries(matchLabelExpressions.map(({ key = '', values = [] }) => [key, sortTexts([...new Set(values)])])),
    ).sort(([a], [b]) => compareText(a, b)),
  )

function validateTerm({ matchLabelExpressions }: TopologySelectorTerm, field: string): readonly FieldError[] {
  const keys = new Set<string>()
  return checkEach(matchLabelExpressions, field, (requirement, at) => {
    const { key = '' } = requirement
    const isRepeated = keys.has(key)
    keys.add(key)
    return joined(validateRequirement(requirement, at), isRepeated ? [duplicate(`${at}.key`, key)] : noErrors)
  })
}

function validateRequirement({ key = '', values = [] }: TopologySelectorLabelRequirement, field: string): readonly FieldError[] {
  return joined(
    values.length === 0 ? [required(`${field}.values`)] : noErrors,
    checkEach(values, `${field}.values`, (value, at, i) => (values.indexOf(value) === i ? noErrors : [duplicate(at, value)])),
    checkText(key, `${field}.key`, qualifiedName),
  )
}

export const maxParametersBytes = 256 * 1024

type Parameters = { readonly [name: string]: string }

export function isOverSize(parameters: Parameters): boolean {
  let size = 0
  for (const name in parameters) size += byteLength(name) + byteLength(parameters[name] ?? '')
  return size > maxParametersBytes
}

function checkParameters(
  parameters: Parameters | undefined,
  field: string,
  { maxCount }: { readonly maxCount: number },
): readonly FieldError[] {
  if (parameters === undefined) return noErrors
  const names = Object.keys(parameters)
  if (names.length > maxCount) return [tooLong(field, maxCount)]
  const nameErrors = names.includes('') ? [invalid(field, '', 'field can not be empty.')] : noErrors
  return isOverSize(parameters) ? [...nameErrors, tooLong(field, maxParametersBytes)] : nameErrors
}

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

/** parameters, provisioner, reclaimPolicy and volumeBindingMode are immutable. */
function validateUpdate(next: StorageClass, old: StorageClass): readonly FieldError[] {
  const checkSame = (name: string, isSame: boolean): readonly FieldError[] =>
    isSame ? noErrors : [forbidden(name, `updates to ${name} are forbidden.`)]
  return joined(
    checkSame('parameters', !isSentEmpty(next, 'parameters') && sameValue(next.parameters ?? {}, old.parameters ?? {})),
    checkSame('provisioner', (next.provisioner ?? '') === (old.provisioner ?? '')),
    checkSame('reclaimPolicy', next.reclaimPolicy === old.reclaimPolicy),
    checkUnchanged(next.volumeBindingMode, old.volumeBindingMode, 'volumeBindingMode'),
  )
}

const isDefaultClass = (metadata: ObjectMeta | undefined, identity: Identity): boolean =>
  ['storageclass', 'storageclass.beta'].some((domain) => metadata?.annotations?.[identity.label('is-default-class', domain)] === 'true')

const describeName = ({ metadata }: StorageClass, { identity }: RuleContext): string =>
  `${metadata?.name ?? ''}${isDefaultClass(metadata, identity) ? ' (default)' : ''}`

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
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validateUpdate'] },
  warnings: ({ allowedTopologies = [] }, _, { identity }) =>
    allowedTopologies.flatMap(({ matchLabelExpressions = [] }, i) =>
      matchLabelExpressions.flatMap(({ key = '' }, j) =>
        warningFor(
          deprecatedNodeLabels(identity).get(key),
          (message) => `allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${message}`,
        ),
      ),
    ),
  deleteReturnsObject: true,
  table: tableOf<StorageClass>(
    { column: columns.nameColumn, cell: describeName },
    textColumn('Provisioner', 'Name of the provisioner.', ({ provisioner }) => provisioner ?? ''),
    textColumn('ReclaimPolicy', 'What happens to volumes when their claims are deleted.', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
    textColumn('VolumeBindingMode', 'Time of provisioning and binding.', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
    textColumn('AllowVolumeExpansion', 'Whether volumes can be expanded.', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
    ageColumn,
  ),
})
