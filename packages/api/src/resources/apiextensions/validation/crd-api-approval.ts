// The api-approved annotation, which CRDs in protected API groups must have.

import { type FieldError, invalid, quote, required } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import type { ObjectMeta } from '../../../api/object.js'
import { noErrors } from '../../../api/validation/checks.js'
import { parseUrl } from '../../../api/validation/network/parse-url.js'
import { groupDomain, labelDomain } from '../../core/pod-spec/pod-names.js'
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '../v1.schema.js'

type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid'

function approvalOf(annotation: string): Approval {
  if (annotation === '') return 'missing'
  if (annotation.startsWith('unapproved')) return 'bypassed'
  const url = parseUrl(annotation)
  return url !== undefined && url.scheme !== '' && url.host !== '' ? 'approved' : 'invalid'
}

export const isProtected = (group: string, identity: Identity): boolean =>
  [groupDomain(identity), labelDomain(identity)].some((domain) => group === domain || group.endsWith(`.${domain}`))

const annotationName = (identity: Identity): string => `api-approved.${labelDomain(identity)}`
const annotationOf = ({ annotations }: ObjectMeta, identity: Identity): string => annotations?.[annotationName(identity)] ?? ''

function describeApproval(approval: Approval, annotation: string, identity: Identity): string {
  const needed = `protected groups must have approval annotation "${annotationName(identity)}"`
  const reference = `see https://github.com/${identity.self}/enhancements/pull/1111`
  switch (approval) {
    case 'missing':
      return `${needed}, ${reference}`
    case 'invalid':
      return `${needed} with either a URL or a reason starting with "unapproved", ${reference}`
    case 'bypassed':
      return `not approved: ${quote(annotation)}`
    case 'approved':
      return `approved in ${annotation}`
  }
}

/** Skips the check if the approval state is unchanged. */
export function validateApproval(
  group: string,
  { next, old }: { readonly next: ObjectMeta; readonly old?: ObjectMeta | undefined },
  identity: Identity,
): readonly FieldError[] {
  if (!isProtected(group, identity)) return noErrors
  const annotation = annotationOf(next, identity)
  const approval = approvalOf(annotation)
  if (old !== undefined && approvalOf(annotationOf(old, identity)) === approval) return noErrors
  if (approval !== 'missing' && approval !== 'invalid') return noErrors
  const field = `metadata.annotations[${annotationName(identity)}]`
  const detail = describeApproval(approval, annotation, identity)
  return approval === 'missing' ? [required(field, detail)] : [invalid(field, annotation, detail)]
}

const reasons: { readonly [State in Approval]: string } = {
  missing: 'MissingAnnotation',
  invalid: 'InvalidAnnotation',
  bypassed: 'UnapprovedAnnotation',
  approved: 'ApprovedAnnotation',
}

export function approvalCondition(
  { metadata = {}, spec }: CustomResourceDefinition,
  identity: Identity,
): CustomResourceDefinitionCondition | undefined {
  if (!isProtected(spec?.group ?? '', identity)) return undefined
  const annotation = annotationOf(metadata, identity)
  const approval = approvalOf(annotation)
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: approval === 'approved' ? 'True' : 'False',
    reason: reasons[approval],
    message: describeApproval(approval, annotation, identity),
  }
}
