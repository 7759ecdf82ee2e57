// PriorityClass: maximum value, system classes, immutable value and preemptionPolicy, printer columns.

import { defineResource } from '../../api/definition/resource-definition.js'
import { type FieldError, forbidden } from '../../api/field-error.js'
import { withMetadata } from '../../api/object.js'
import { checkChoice, checkUnchanged, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { preemptionPolicies } from '../core/pod-spec/validate-pod-spec.js'
import { withMissing } from '../core/pod-spec/visit-containers.js'
import { ageColumn, countColumn, flagColumn, nameColumn, tableOf } from '../printer-columns.js'
import { type PriorityClass, priorityClass as schema } from './v1.schema.js'

const systemPrefix = 'system-'
const highestUserPriority = 1_000_000_000

const systemPriorities: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2 * highestUserPriority + 1000],
  ['system-cluster-critical', 2 * highestUserPriority],
])

function validate({ metadata, value = 0, globalDefault = false, preemptionPolicy }: PriorityClass): readonly FieldError[] {
  const name = metadata?.name ?? ''
  return joined(
    name.startsWith(systemPrefix) ? validateSystemClass(name, value, globalDefault) : validateValue(value),
    preemptionPolicy === undefined ? noErrors : checkChoice(preemptionPolicy, 'preemptionPolicy', preemptionPolicies),
  )
}

const validateValue = (value: number): readonly FieldError[] =>
  value > highestUserPriority
    ? [forbidden('value', `maximum allowed value of a user defined priority is ${highestUserPriority}`)]
    : noErrors

function validateSystemClass(name: string, value: number, globalDefault: boolean): readonly FieldError[] {
  const known = systemPriorities.get(name)
  const nameErrors = (reason: string): readonly FieldError[] => [
    forbidden('metadata.name', `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${reason}`),
  ]
  if (known === undefined) return nameErrors(`${name} is not a known system priority class`)
  if (known !== value) return nameErrors(`value of ${name} PriorityClass must be ${known}`)
  return globalDefault ? nameErrors(`globalDefault of ${name} PriorityClass must be false`) : noErrors
}

const validateUpdate = (next: PriorityClass, old: PriorityClass): readonly FieldError[] =>
  joined(
    (next.value ?? 0) === (old.value ?? 0) ? noErrors : [forbidden('value', 'may not be changed in an update.')],
    checkUnchanged(next.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy'),
  )

export const priorityClass = defineResource<PriorityClass>({
  group: { stem: 'scheduling' },
  kind: 'PriorityClass',
  resource: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (object) => withMissing(object, { preemptionPolicy: 'PreemptLowerPriority' }),
  prepareCreate: (object) => withMetadata(object, { generation: 1 }),
  validate,
  validateUpdate,
  deleteProblem: ({ metadata }) =>
    systemPriorities.has(metadata?.name ?? '') ? 'this is a system priority class and cannot be deleted' : undefined,
  table: tableOf<PriorityClass>(
    nameColumn,
    countColumn('Value', 'Priority of pods of the class.', ({ value }) => value ?? 0),
    flagColumn(
      'Global-Default',
      'Whether the class is the default of pods without a class.',
      ({ globalDefault }) => globalDefault ?? false,
    ),
    ageColumn,
  ),
})
