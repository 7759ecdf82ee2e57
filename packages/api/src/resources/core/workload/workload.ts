// Validation and printer columns that workloads share: pod template, selector, replica counts.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { ApiObject } from '../../../api/object.js'
import { fromSelectorObject, type LabelSelectorObject } from '../../../api/selectors/label-selector.js'
import { checkEach, checkNotNegative, checkUnchanged, joined, noErrors } from '../../../api/validation/checks.js'
import { isEmptySelector, validateLabelSelector } from '../../../api/validation/label-selector.js'
import { validateAnnotations, validateLabels } from '../../../api/validation/metadata/labels.js'
import { shorten } from '../../../base/shorten.js'
import { sortTexts } from '../../../base/text-order.js'
import { type CellColumn, countColumn, textColumn } from '../../printer-columns.js'
import { templateWithoutGatedFields } from '../pod-spec/feature-gated-fields.js'
import { validatePodAnnotations } from '../pod-spec/pod-annotations.js'
import { templateWarnings } from '../pod-spec/pod-warnings.js'
import { validateSeccompAgreement } from '../pod-spec/security-context.js'
import { validatePodSpec } from '../pod-spec/validate-pod-spec.js'
import type { PodTemplateSpec, ReplicationControllerStatus, Volume } from '../v1.schema.js'

type Counts = { readonly [name: string]: unknown }

const countOf = (status: object, name: string): number => ((status as Counts)[name] as number | undefined) ?? 0

export function checkCounts<T extends object>(status: T, names: readonly (keyof T & string)[]): readonly FieldError[] {
  let errors = noErrors
  for (const name of names) {
    const count = countOf(status, name)
    if (count < 0) errors = joined(errors, checkNotNegative(count, `status.${name}`))
  }
  return errors
}

/** The counts must not exceed `replicas`, nor availableReplicas exceed readyReplicas, which errors call `readyName`. */
export function checkReplicaCounts<T extends ReplicationControllerStatus>(
  status: T,
  counts: readonly (keyof T & string)[],
  readyName = 'readyReplicas',
): readonly FieldError[] {
  const { availableReplicas = 0, readyReplicas = 0 } = status
  let errors = noErrors
  const addError = (name: string, count: number, limit: string): void => {
    errors = joined(errors, [invalid(`status.${name}`, count, `cannot be greater than ${limit}`)])
  }
  for (const name of counts)
    if (countOf(status, name) > countOf(status, 'replicas')) addError(name, countOf(status, name), 'status.replicas')
  if (availableReplicas > readyReplicas) addError('availableReplicas', availableReplicas, readyName)
  return errors
}

interface CollisionCounter {
  readonly collisionCount?: number
}

/** collisionCount must not decrease. */
export function checkCollisions(next: CollisionCounter, old: CollisionCounter): readonly FieldError[] {
  const { collisionCount } = next
  if (old.collisionCount === undefined || (collisionCount ?? -1) >= old.collisionCount) return noErrors
  return [invalid('status.collisionCount', collisionCount ?? 0, 'cannot be decremented')]
}

export const workloadColumns = <T extends ApiObject>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
  selectorText?: (object: T) => string,
): readonly CellColumn<T>[] => {
  const containerTexts = (member: 'name' | 'image') => (object: T) =>
    (templateOf(object)?.spec?.containers ?? []).map((container) => container[member] ?? '').join(',')
  return [
    textColumn('Containers', 'Names of the containers in the template.', containerTexts('name'), 1),
    textColumn('Images', 'Images of the containers in the template.', containerTexts('image'), 1),
    ...(selectorText === undefined ? [] : [textColumn('Selector', 'Label selector of the pods.', selectorText, 1)]),
  ]
}

export const validateReplicaStatus = (status: ReplicationControllerStatus): readonly FieldError[] =>
  joined(
    checkCounts(status, ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration']),
    checkReplicaCounts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
  )

interface Counted extends ApiObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: ReplicationControllerStatus
}

export const replicaColumns: readonly CellColumn<Counted>[] = [
  countColumn('Desired', 'Desired number of pods.', ({ spec }) => spec?.replicas ?? 0),
  countColumn('Current', 'Current number of pods.', ({ status }) => status?.replicas ?? 0),
  countColumn('Ready', 'Number of ready pods.', ({ status }) => status?.readyReplicas ?? 0),
]

const none = '<none>'

export const describeLabels = (labels: { readonly [key: string]: string } = {}): string =>
  sortTexts(Object.keys(labels))
    .map((key) => `${key}=${labels[key]}`)
    .join(',') || none

export const describeSelector = (selector: LabelSelectorObject | undefined): string => fromSelectorObject(selector).text || none

export const validateTemplateMetadata = (template: PodTemplateSpec, field: string, context: RuleContext): readonly FieldError[] => {
  const { metadata: { labels, annotations } = {}, spec = {} } = template
  return joined(
    validateLabels(labels, `${field}.labels`),
    validateAnnotations(annotations, `${field}.annotations`),
    validatePodAnnotations({ annotations, spec }, `${field}.annotations`, context),
  )
}

export function validateTemplate(template: PodTemplateSpec, field: string, context: RuleContext): readonly FieldError[] {
  const { metadata = {}, spec = {} } = template
  return joined(
    validateTemplateMetadata(template, field, context),
    validatePodSpec(spec, `${field}.spec`, context),
    validateSeccompAgreement({ metadata, spec }, `${field}.spec`, context.identity),
    spec.ephemeralContainers === undefined
      ? noErrors
      : [forbidden(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')],
  )
}

/** Requires a valid, non-empty selector. */
export function checkSelectorMatches(
  selector: LabelSelectorObject | undefined,
  template: PodTemplateSpec,
  field: string,
): readonly FieldError[] {
  const { labels } = template.metadata ?? {}
  if (fromSelectorObject(selector).matches(labels)) return noErrors
  return [invalid(`${field}.metadata.labels`, labels, '`selector` does not match template `labels`')]
}

/** Requires restartPolicy Always and no activeDeadlineSeconds. */
export function checkRestartAlways({ spec = {} }: PodTemplateSpec, field: string, owner: string): readonly FieldError[] {
  const { restartPolicy = '', activeDeadlineSeconds } = spec
  return joined(
    restartPolicy === 'Always' ? noErrors : [notSupported(`${field}.spec.restartPolicy`, restartPolicy, ['Always'])],
    activeDeadlineSeconds === undefined
      ? noErrors
      : [forbidden(`${field}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`)],
  )
}

/** For pods that may run on several nodes: GCE disks must be read-only. */
export const checkSharedDisks = (volumes: readonly Volume[] | undefined, field: string): readonly FieldError[] =>
  checkEach(volumes, field, ({ gcePersistentDisk }, at) => {
    if (gcePersistentDisk === undefined || gcePersistentDisk.readOnly === true) return noErrors
    const problem = 'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
    return [invalid(`${at}.gcePersistentDisk.readOnly`, false, problem)]
  })

export function validateWorkloadSelector(
  selector: LabelSelectorObject | undefined,
  field: string,
  workload: string,
): readonly FieldError[] {
  if (selector === undefined) return [required(field)]
  return joined(
    validateLabelSelector(selector, field),
    isEmptySelector(selector) ? [invalid(field, selector, `empty selector is invalid for ${workload}`)] : noErrors,
  )
}

export const isUsableSelector = (selector: LabelSelectorObject | undefined): boolean => validateLabelSelector(selector, '').length === 0

interface Replicated {
  readonly replicas?: number
  readonly selector?: LabelSelectorObject
  readonly template?: PodTemplateSpec
}

/** Shared by ReplicaSets and Deployments; errors of both say `deployment` for the selector and `ReplicaSet` for the template. */
export function validateReplicated({ replicas = 0, selector, template = {} }: Replicated, field: string, context: RuleContext) {
  const selectorErrors = validateWorkloadSelector(selector, `${field}.selector`, 'deployment')
  if (!isUsableSelector(selector)) return joined(selectorErrors, [invalid(`${field}.selector`, selector, 'invalid label selector')])
  const at = `${field}.template`
  return joined(
    selectorErrors,
    selector !== undefined && isEmptySelector(selector) ? noErrors : checkSelectorMatches(selector, template, at),
    validateTemplate(template, at, context),
    replicas > 1 ? checkSharedDisks(template.spec?.volumes, `${at}.spec.volumes`) : noErrors,
    checkRestartAlways(template, at, 'ReplicaSet'),
  )
}

/** Returns an error message unless the annotation, which replaces an int64 field, is absent or an int64. */
export function int64AnnotationProblem(annotations: { readonly [name: string]: string } | undefined, name: string): string | undefined {
  const text = annotations?.[name]
  if (text === undefined) return undefined
  if (!/^[+-]?[0-9]{1,20}$/.test(text)) return `metadata.annotations[${name}]: ${JSON.stringify(shorten(text))} is not a whole number`
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text)
    ? undefined
    : `metadata.annotations[${name}]: the number ${text} does not fit into int64`
}

interface Templated extends ApiObject {
  readonly spec?: { readonly template?: PodTemplateSpec; readonly selector?: unknown }
}

export const withoutGatedTemplate = <T extends Templated>(object: T, old: T | undefined, { gates }: RuleContext): T => ({
  ...object,
  spec: { ...object.spec, template: templateWithoutGatedFields(object.spec?.template ?? {}, old?.spec?.template, gates) },
})

export const specTemplateWarnings = <T extends Templated>(next: T, old: T | undefined, { identity }: RuleContext): readonly string[] =>
  templateWarnings({ next, old, template: next.spec?.template, path: 'spec.template', identity })

export const checkSameSelector = (next: Templated, old: Templated): readonly FieldError[] =>
  checkUnchanged(next.spec?.selector, old.spec?.selector, 'spec.selector')
