// What a job must be besides its spec, what of it may change, and the rules of its status.

import type { RuleContext } from '../../api/definition.js'
import { duplicate, type FieldError, invalid, required } from '../../api/field-error.js'
import { fromSelectorObject } from '../../api/label-selector.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { checkNotNegative, checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { dnsLabel } from '../../api/validation/text-rules.js'
import { isUsableSelector } from '../apps/workload-selector.js'
import { checkSelectorMatches } from '../core/pod-template-rules.js'
import { type PodSpec, type PodTemplateSpec, podTemplateSpec } from '../core/v1.schema.js'
import { validateJobSpec } from './job-spec.js'
import type { Job, JobSpec } from './v1.schema.js'

/** Labels by which a job knows its pods, unless it is told otherwise. */
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

/** A selector that was made for the job finds the pods of that job and of no other. */
function validateGeneratedSelector({ metadata = {}, spec = {} }: Job): readonly FieldError[] {
  if (spec.manualSelector === true) return noErrors
  if (spec.selector === undefined) return [required('spec.selector')]
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

function checkLabel(template: PodTemplateSpec | undefined, key: string, wanted: string): readonly FieldError[] {
  const labels = template?.metadata?.labels ?? {}
  const field = `spec.template.metadata.labels[${key}]`
  const found = labels[key]
  if (found === undefined) return [required(field, `must be '${wanted}'`)]
  return found === wanted ? noErrors : [invalid(field, labels, `must be '${wanted}'`)]
}

/** Pods of an indexed job are hosts that bear its name and their index. */
function validateIndexedName({ metadata, spec = {} }: Job): readonly FieldError[] {
  const { completionMode, completions = 0 } = spec
  if (completionMode !== 'Indexed' || completions <= 0) return noErrors
  const name = metadata?.name ?? ''
  const longest = `${name}-${completions - 1}`
  if (dnsLabel(longest).length === 0) return noErrors
  return [invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${longest}`)]
}

export function validateJobChange(next: Job, old: Job, context: RuleContext): readonly FieldError[] {
  const [spec, before] = [next.spec ?? {}, old.spec ?? {}]
  return joined(
    validateSpec(spec, context),
    checkUnchanged(spec.completions, before.completions, 'spec.completions'),
    checkUnchanged(spec.selector, before.selector, 'spec.selector'),
    validateTemplateChange(spec.template ?? {}, before.template ?? {}, { isWaiting: isWaiting(old, context) }),
    checkUnchanged(spec.completionMode, before.completionMode, 'spec.completionMode'),
    checkUnchanged(spec.podFailurePolicy, before.podFailurePolicy, 'spec.podFailurePolicy'),
  )
}

/** A job that is suspended and never started may still be told where to run. */
const isWaiting = ({ spec, status }: Job, { gates }: RuleContext): boolean =>
  gates('JobMutableNodeSchedulingDirectives') && spec?.suspend === true && status?.startTime === undefined

function validateTemplateChange(
  next: PodTemplateSpec,
  old: PodTemplateSpec,
  { isWaiting }: { readonly isWaiting: boolean },
): readonly FieldError[] {
  const comparable = isWaiting ? withPlacementOf(old, next) : old
  return sameBySchema(podTemplateSpec, next, comparable) ? noErrors : [invalid('spec.template', next, 'field is immutable')]
}

/** The old template with everything of the new one that says where pods run, and with its labels and annotations. */
function withPlacementOf(old: PodTemplateSpec, next: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, tolerations } = next.spec ?? {}
  const { labels, annotations } = next.metadata ?? {}
  const spec = { ...old.spec, nodeSelector, tolerations, affinity: affinityWithPlacement(old.spec, next.spec) } as PodSpec
  return { metadata: { ...old.metadata, labels, annotations } as NonNullable<PodTemplateSpec['metadata']>, spec }
}

function affinityWithPlacement(old: PodSpec | undefined, next: PodSpec | undefined): PodSpec['affinity'] | undefined {
  const { nodeAffinity: _, ...rest } = old?.affinity ?? {}
  const wanted = next?.affinity?.nodeAffinity
  const kept = wanted === undefined ? rest : { ...rest, nodeAffinity: wanted }
  return next?.affinity === undefined && Object.keys(kept).length === 0 ? undefined : kept
}

export function validateJobStatus({ status = {} }: Job): readonly FieldError[] {
  const { succeeded, failed } = status.uncountedTerminatedPods ?? {}
  const seen = new Set<string>()
  const take = (uid: string, field: string): readonly FieldError[] => {
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
    checkEach(succeeded, 'status.uncountedTerminatedPods.succeeded', take),
    checkEach(failed, 'status.uncountedTerminatedPods.failed', take),
  )
}
