// Priority classes: names for how important pods are. A class keeps its number for good, as pods have copied it.

import { defineResource } from '../../api/definition.js'
import { type FieldError, forbidden } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { withMetadata } from '../../api/object.js'
import { ageColumn, nameColumn } from '../../api/table-columns.js'
import { checkChoice, joined } from '../../api/validation/collect.js'
import { checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { withMissing } from '../core/pod-spec/missing-members.js'
import { preemptionPolicies } from '../core/pod-spec/validate-pod-spec.js'
import { countColumn } from '../core/workload-columns.js'
import { type PriorityClass, priorityClass as schema } from './v1.schema.js'

const systemPrefix = 'system-'
const highestUserPriority = 1_000_000_000

/** The classes of the system itself, which no one else may define. */
export const systemPriorities: ReadonlyMap<string, number> = new Map([
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
  const refused = (why: string): readonly FieldError[] => [
    forbidden('metadata.name', `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${why}`),
  ]
  if (known === undefined) return refused(`${name} is not a known system priority class`)
  if (known !== value) return refused(`value of ${name} PriorityClass must be ${known}`)
  return globalDefault ? refused(`globalDefault of ${name} PriorityClass must be false`) : noErrors
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
  table: {
    columns: [
      nameColumn,
      countColumn('Value', 'How important pods of the class are.'),
      { name: 'Global-Default', type: 'boolean', description: 'Whether pods that name no class have this one.' },
      ageColumn,
    ],
    cells: ({ metadata, value, globalDefault }, { now }) => [
      metadata?.name ?? '',
      value ?? 0,
      globalDefault ?? false,
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
