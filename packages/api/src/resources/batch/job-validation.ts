// Validation of Jobs: spec, generated selector, pod failure policy, immutable fields, status.

import type { RuleContext } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../../api/field-error.js'
import { fromSelectorObject } from '../../api/selectors/label-selector.js'
import { checkEach, checkNotNegative, checkOptional, checkText, checkUnchanged, joined, noErrors } from '../../api/validation/checks.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { dnsLabel, qualifiedName } from '../../api/validation/name-formats.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { type PodSpec, type PodTemplateSpec, podTemplateSpec } from '../core/v1.schema.js'
import { checkSelectorMatches, isUsableSelector, validateTemplate } from '../core/workload/workload.js'
import type {
  Job,
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
} from './v1.schema.js'

const maxRules = 20
const maxExitCodes = 255
const maxConditions = 20
const actions = ['Count', 'FailJob', 'Ignore']
const operators = ['In', 'NotIn']
const statuses = ['False', 'True', 'Unknown']

function validateFailurePolicy({ podFailurePolicy, template }: JobSpec, field: string): readonly FieldError[] {
  const rules = podFailurePolicy?.rules ?? []
  const { containers = [], initContainers = [] } = template?.spec ?? {}
  const names = new Set([...containers, ...initContainers].map(({ name }) => name))
  const at = `${field}.rules`
  return joined(
    rules.length > maxRules ? [tooMany(at, rules.length, maxRules)] : noErrors,
    checkEach(rules, at, (rule, ruleAt) => validateRule(rule, ruleAt, names)),
  )
}

type ContainerNames = ReadonlySet<string | undefined>

function validateRule({ action, onExitCodes, onPodConditions }: PodFailurePolicyRule, field: string, names: ContainerNames) {
  const { length = 0 } = onPodConditions ?? []
  const hasConditions = length > 0
  return joined(
    checkEnum(action, `${field}.action`, actions),
    checkOptional(onExitCodes, `${field}.onExitCodes`, (codes, at) => validateExitCodes(codes, at, names)),
    length > maxConditions ? [tooMany(`${field}.onPodConditions`, length, maxConditions)] : noErrors,
    checkEach(onPodConditions, `${field}.onPodConditions`, validateCondition),
    onExitCodes !== undefined && hasConditions
      ? [ruleError(field, 'specifying both OnExitCodes and OnPodConditions is not supported')]
      : noErrors,
    onExitCodes === undefined && !hasConditions
      ? [ruleError(field, 'specifying one of OnExitCodes and OnPodConditions is required')]
      : noErrors,
  )
}

const ruleError = (field: string, problem: string): FieldError => ({ ...invalid(field, ''), message: `Invalid value: ${problem}` })

function checkEnum(value: string | undefined, field: string, choices: readonly string[]): readonly FieldError[] {
  if (value === undefined || value === '') return [required(field, `valid values: [${choices.map((choice) => `"${choice}"`).join(' ')}]`)]
  return choices.includes(value) ? noErrors : [notSupported(field, value, choices)]
}

const validateCondition = ({ type = '', status }: PodFailurePolicyOnPodConditionsPattern, field: string): readonly FieldError[] =>
  joined(checkText(type, `${field}.type`, qualifiedName), checkEnum(status, `${field}.status`, statuses))

function validateExitCodes(requirement: PodFailurePolicyOnExitCodesRequirement, field: string, names: ContainerNames) {
  const { operator, containerName, values = [] } = requirement
  const at = `${field}.values`
  return joined(
    checkEnum(operator, `${field}.operator`, operators),
    containerName === undefined || names.has(containerName)
      ? noErrors
      : [invalid(`${field}.containerName`, containerName, 'must be one of the container or initContainer names in the pod template')],
    values.length === 0 ? [invalid(at, values, 'at least one value is required')] : noErrors,
    values.length > maxExitCodes ? [tooMany(at, values.length, maxExitCodes)] : noErrors,
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

const maxIndexedParallelism = 100_000
const modes = ['NonIndexed', 'Indexed']
const numbers = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'] as const

export function validateJobSpec(spec: JobSpec, field: string, context: RuleContext): readonly FieldError[] {
  let counts = noErrors
  for (const name of numbers) counts = joined(counts, checkNotNegative(spec[name] ?? 0, `${field}.${name}`))
  return joined(
    counts,
    validateMode(spec, field),
    spec.podFailurePolicy === undefined ? noErrors : validateFailurePolicy(spec, `${field}.podFailurePolicy`),
    validateTemplate(spec.template ?? {}, `${field}.template`, context),
    validateRestartPolicy(spec, `${field}.template.spec.restartPolicy`),
  )
}

function validateMode({ completionMode, completions, parallelism = 0 }: JobSpec, field: string): readonly FieldError[] {
  if (completionMode === undefined) return noErrors
  if (completionMode !== 'Indexed') {
    return modes.includes(completionMode) ? noErrors : [notSupported(`${field}.completionMode`, completionMode, modes)]
  }
  const problem = `must be less than or equal to ${maxIndexedParallelism} when completion mode is Indexed`
  return joined(
    completions === undefined ? [required(`${field}.completions`, 'when completion mode is Indexed')] : noErrors,
    parallelism > maxIndexedParallelism ? [invalid(`${field}.parallelism`, parallelism, problem)] : noErrors,
  )
}

const jobRestartPolicies = ['OnFailure', 'Never']

/** Rejects `Always`; with a podFailurePolicy only `Never` is allowed. */
function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, field: string): readonly FieldError[] {
  const policy = template?.spec?.restartPolicy ?? ''
  if (policy === '' || policy === 'Always') return [required(field, 'valid values: "OnFailure", "Never"')]
  if (!jobRestartPolicies.includes(policy)) return [notSupported(field, policy, jobRestartPolicies)]
  if (podFailurePolicy === undefined || policy === 'Never') return noErrors
  return [invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')]
}

export const ownerLabel = 'controller-uid'
export const nameLabel = 'job-name'

export const validateJob = (job: Job, context: RuleContext): readonly FieldError[] =>
  joined(validateGeneratedSelector(job), validateSpec(job.spec ?? {}, context), validateIndexedName(job))

function validateSpec(spec: JobSpec, context: RuleContext): readonly FieldError[] {
  const { selector, template = {} } = spec
  return joined(
    validateJobSpec(spec, 'spec', context),
    selector === undefined ? [required('spec.selector')] : validateLabelSelector(selector, 'spec.selector'),
    isUsableSelector(selector) ? checkSelectorMatches(selector, template, 'spec.template') : noErrors,
  )
}

/** Unless manualSelector is true, template labels must name this Job, and the selector must match them. */
function validateGeneratedSelector({ metadata = {}, spec = {} }: Job): readonly FieldError[] {
  if (spec.manualSelector === true || spec.selector === undefined) return noErrors
  const { uid = '', name = '' } = metadata
  const expected = { [ownerLabel]: uid, [nameLabel]: name }
  const isGenerated = !isUsableSelector(spec.selector) || fromSelectorObject(spec.selector).matches(expected)
  return joined(
    uid === '' ? [required('metadata.uid')] : noErrors,
    checkLabel(spec.template, ownerLabel, uid),
    checkLabel(spec.template, nameLabel, name),
    isGenerated ? noErrors : [invalid('spec.selector', spec.selector, '`selector` not auto-generated')],
  )
}

function checkLabel(template: PodTemplateSpec | undefined, key: string, expected: string): readonly FieldError[] {
  const labels = template?.metadata?.labels ?? {}
  const field = `spec.template.metadata.labels[${key}]`
  const actual = labels[key]
  if (actual === undefined) return [required(field, `must be '${expected}'`)]
  return actual === expected ? noErrors : [invalid(field, labels, `must be '${expected}'`)]
}

/** Host names of pods of indexed Jobs contain the job name and the index. */
function validateIndexedName({ metadata, spec = {} }: Job): readonly FieldError[] {
  const { completionMode, completions = 0 } = spec
  if (completionMode !== 'Indexed' || completions <= 0) return noErrors
  const name = metadata?.name ?? ''
  const lastHostName = `${name}-${completions - 1}`
  if (dnsLabel(lastHostName).length === 0) return noErrors
  return [invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${lastHostName}`)]
}

export function validateJobChange(next: Job, old: Job, context: RuleContext): readonly FieldError[] {
  const [spec, before] = [next.spec ?? {}, old.spec ?? {}]
  return joined(
    validateSpec(spec, context),
    checkUnchanged(spec.completions, before.completions, 'spec.completions'),
    checkUnchanged(spec.selector, before.selector, 'spec.selector'),
    validateTemplateChange(spec.template ?? {}, before.template ?? {}, { isSchedulingMutable: isSchedulingMutable(old, context) }),
    checkUnchanged(spec.completionMode, before.completionMode, 'spec.completionMode'),
    checkUnchanged(spec.podFailurePolicy, before.podFailurePolicy, 'spec.podFailurePolicy'),
  )
}

/** With the feature gate, a suspended Job that never started may change its scheduling directives. */
const isSchedulingMutable = ({ spec, status }: Job, { gates }: RuleContext): boolean =>
  gates('JobMutableNodeSchedulingDirectives') && spec?.suspend === true && status?.startTime === undefined

function validateTemplateChange(
  next: PodTemplateSpec,
  old: PodTemplateSpec,
  { isSchedulingMutable }: { readonly isSchedulingMutable: boolean },
): readonly FieldError[] {
  const comparable = isSchedulingMutable ? withPlacementOf(old, next) : old
  return sameBySchema(podTemplateSpec, next, comparable) ? noErrors : [invalid('spec.template', next, 'field is immutable')]
}

function withPlacementOf(old: PodTemplateSpec, next: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, tolerations } = next.spec ?? {}
  const { labels, annotations } = next.metadata ?? {}
  const spec = { ...old.spec, nodeSelector, tolerations, affinity: affinityWithPlacement(old.spec, next.spec) } as PodSpec
  return { metadata: { ...old.metadata, labels, annotations } as NonNullable<PodTemplateSpec['metadata']>, spec }
}

function affinityWithPlacement(old: PodSpec | undefined, next: PodSpec | undefined): PodSpec['affinity'] | undefined {
  const { nodeAffinity: _, ...rest } = old?.affinity ?? {}
  const nextNodeAffinity = next?.affinity?.nodeAffinity
  const kept = nextNodeAffinity === undefined ? rest : { ...rest, nodeAffinity: nextNodeAffinity }
  return next?.affinity === undefined && Object.keys(kept).length === 0 ? undefined : kept
}

export function validateJobStatus({ status = {} }: Job): readonly FieldError[] {
  const { succeeded, failed } = status.uncountedTerminatedPods ?? {}
  const seen = new Set<string>()
  const checkUid = (uid: string, field: string): readonly FieldError[] => {
    if (uid === '') return [invalid(field, uid, 'must not be empty')]
    if (seen.has(uid)) return [duplicate(field, uid)]
    seen.add(uid)
    return noErrors
  }
  return joined(
    checkNotNegative(status.active ?? 0, 'status.active'),
    checkNotNegative(status.succeeded ?? 0, 'status.succeeded'),
    checkNotNegative(status.failed ?? 0, 'status.failed'),
    checkNotNegative(status.ready ?? 0, 'status.ready'),
    checkEach(succeeded, 'status.uncountedTerminatedPods.succeeded', checkUid),
    checkEach(failed, 'status.uncountedTerminatedPods.failed', checkUid),
  )
}
