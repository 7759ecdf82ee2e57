// The rules by which a job tells failures that count from those that do not.

import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../../api/field-error.js'
import { checkEach, checkPart, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { qualifiedName } from '../../api/validation/text-rules.js'
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
} from './v1.schema.js'

const rulesLimit = 20
const codesLimit = 255
const conditionsLimit = 20
const actions = ['Count', 'FailJob', 'Ignore']
const operators = ['In', 'NotIn']
const statuses = ['False', 'True', 'Unknown']

export function validateFailurePolicy({ podFailurePolicy, template }: JobSpec, field: string): readonly FieldError[] {
  const rules = podFailurePolicy?.rules ?? []
  const { containers = [], initContainers = [] } = template?.spec ?? {}
  const names = new Set([...containers, ...initContainers].map(({ name }) => name))
  const at = `${field}.rules`
  return joined(
    rules.length > rulesLimit ? [tooMany(at, rules.length, rulesLimit)] : noErrors,
    checkEach(rules, at, (rule, ruleAt) => validateRule(rule, ruleAt, names)),
  )
}

type ContainerNames = ReadonlySet<string | undefined>

function validateRule({ action, onExitCodes, onPodConditions }: PodFailurePolicyRule, field: string, names: ContainerNames) {
  const { length = 0 } = onPodConditions ?? []
  const hasConditions = length > 0
  return joined(
    checkWord(action, `${field}.action`, actions),
    checkPart(onExitCodes, `${field}.onExitCodes`, (codes, at) => validateExitCodes(codes, at, names)),
    length > conditionsLimit ? [tooMany(`${field}.onPodConditions`, length, conditionsLimit)] : noErrors,
    checkEach(onPodConditions, `${field}.onPodConditions`, validateCondition),
    onExitCodes !== undefined && hasConditions
      ? [wrong(field, 'specifying both OnExitCodes and OnPodConditions is not supported')]
      : noErrors,
    onExitCodes === undefined && !hasConditions
      ? [wrong(field, 'specifying one of OnExitCodes and OnPodConditions is required')]
      : noErrors,
  )
}

/** Said of a whole rule, which is not shown. */
const wrong = (field: string, problem: string): FieldError => ({ ...invalid(field, ''), message: `Invalid value: ${problem}` })

function checkWord(word: string | undefined, field: string, choices: readonly string[]): readonly FieldError[] {
  if (word === undefined || word === '') return [required(field, `valid values: [${choices.map((choice) => `"${choice}"`).join(' ')}]`)]
  return choices.includes(word) ? noErrors : [notSupported(field, word, choices)]
}

const validateCondition = ({ type = '', status }: PodFailurePolicyOnPodConditionsPattern, field: string): readonly FieldError[] =>
  joined(checkText(type, `${field}.type`, qualifiedName), checkWord(status, `${field}.status`, statuses))

function validateExitCodes(requirement: PodFailurePolicyOnExitCodesRequirement, field: string, names: ContainerNames) {
  const { operator, containerName, values = [] } = requirement
  const at = `${field}.values`
  return joined(
    checkWord(operator, `${field}.operator`, operators),
    containerName === undefined || names.has(containerName)
      ? noErrors
      : [invalid(`${field}.containerName`, containerName, 'must be one of the container or initContainer names in the pod template')],
    values.length === 0 ? [invalid(at, values, 'at least one value is required')] : noErrors,
    values.length > codesLimit ? [tooMany(at, values.length, codesLimit)] : noErrors,
    validateCodes(values, at, { mayBeZero: operator !== 'In' }),
    values.some((value, i) => i > 0 && (values[i - 1] ?? 0) > value) ? [invalid(at, values, 'must be ordered')] : noErrors,
  )
}

function validateCodes(values: readonly number[], field: string, { mayBeZero }: { readonly mayBeZero: boolean }): readonly FieldError[] {
  const seen = new Set<number>()
  return checkEach(values, field, (value, at) => {
    const isRepeated = seen.has(value)
    seen.add(value)
    return joined(
      value === 0 && !mayBeZero ? [invalid(at, value, 'must not be 0 for the In operator')] : noErrors,
      isRepeated ? [duplicate(at, value)] : noErrors,
    )
  })
}
