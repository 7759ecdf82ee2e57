// The rules of templates of pods, wherever they stand, and of those from which a controller makes pods that shall run for good.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, notSupported } from '../../api/field-error.js'
import { fromSelectorObject, type LabelSelectorObject } from '../../api/label-selector.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { validateAnnotations, validateLabels } from '../../api/validation/labels.js'
import { validatePodAnnotations } from './pod-spec/annotations.js'
import { validateSeccompAgreement } from './pod-spec/seccomp.js'
import { validatePodSpec } from './pod-spec/validate-pod-spec.js'
import type { PodTemplateSpec, Volume } from './v1.schema.js'

/** Labels and annotations, which the pods will have. */
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

/** A controller finds the pods again that it made. A selector that says nothing is another matter, and so is one that is wrong. */
export function checkSelectorMatches(
  selector: LabelSelectorObject | undefined,
  template: PodTemplateSpec,
  field: string,
): readonly FieldError[] {
  const { labels } = template.metadata ?? {}
  if (fromSelectorObject(selector).matches(labels)) return noErrors
  return [invalid(`${field}.metadata.labels`, labels, '`selector` does not match template `labels`')]
}

/** Pods that a controller keeps running start again whenever they end, and have no deadline. */
export function checkRunsForGood({ spec = {} }: PodTemplateSpec, field: string, owner: string): readonly FieldError[] {
  const { restartPolicy = '', activeDeadlineSeconds } = spec
  return joined(
    restartPolicy === 'Always' ? noErrors : [notSupported(`${field}.spec.restartPolicy`, restartPolicy, ['Always'])],
    activeDeadlineSeconds === undefined
      ? noErrors
      : [forbidden(`${field}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`)],
  )
}

/** A disk that can be mounted on many machines only for reading is no place for several pods to write. */
export const checkSharedDisks = (volumes: readonly Volume[] | undefined, field: string): readonly FieldError[] =>
  checkEach(volumes, field, ({ gcePersistentDisk }, at) => {
    if (gcePersistentDisk === undefined || gcePersistentDisk.readOnly === true) return noErrors
    const problem = 'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
    return [invalid(`${at}.gcePersistentDisk.readOnly`, false, problem)]
  })
