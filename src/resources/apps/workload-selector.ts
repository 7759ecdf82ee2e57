// The selector by which a workload knows its pods, together with the template of those pods.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, invalid, required } from '../../api/field-error.js'
import type { LabelSelectorObject } from '../../api/label-selector.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { isEmptySelector, validateLabelSelector } from '../../api/validation/label-selector.js'
import { checkRunsForGood, checkSelectorMatches, checkSharedDisks, validateTemplate } from '../core/pod-template-rules.js'
import type { PodTemplateSpec } from '../core/v1.schema.js'

/** What is said of a selector: that it must be there, be well formed and say something. */
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

/** Whether a selector can be asked at all: one that is absent picks nothing, one that is wrong cannot be asked. */
export const isUsableSelector = (selector: LabelSelectorObject | undefined): boolean => validateLabelSelector(selector, '').length === 0

interface Replicated {
  readonly replicas?: number
  readonly selector?: LabelSelectorObject
  readonly template?: PodTemplateSpec
}

/** Selector and template of sets of replicas and of what makes them. */
export function validateReplicated({ replicas = 0, selector, template = {} }: Replicated, field: string, context: RuleContext) {
  const found = validateWorkloadSelector(selector, `${field}.selector`, 'deployment')
  if (!isUsableSelector(selector)) return joined(found, [invalid(`${field}.selector`, selector, 'invalid label selector')])
  const at = `${field}.template`
  return joined(
    found,
    selector !== undefined && isEmptySelector(selector) ? noErrors : checkSelectorMatches(selector, template, at),
    validateTemplate(template, at, context),
    replicas > 1 ? checkSharedDisks(template.spec?.volumes, `${at}.spec.volumes`) : noErrors,
    checkRunsForGood(template, at, 'ReplicaSet'),
  )
}
