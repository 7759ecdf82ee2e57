// Custom kinds in the domains of the system itself: their author says where they were approved, or that they were not.

import { type FieldError, invalid, quote, required } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import type { ObjectMeta } from '../../api/object.js'
import { noErrors } from '../../api/validation/fields.js'
import { parseUrl } from '../../api/validation/parse-url.js'
import { groupDomain, labelDomain } from '../core/pod-spec/own-domains.js'
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from './v1.schema.js'

type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid'

function approvalOf(annotation: string): Approval {
  if (annotation === '') return 'missing'
  if (annotation.startsWith('unapproved')) return 'bypassed'
  const url = parseUrl(annotation)
  return url !== undefined && url.scheme !== '' && url.host !== '' ? 'approved' : 'invalid'
}

/** Whether kinds of a group need an approval. */
export const isProtected = (group: string, identity: Identity): boolean =>
  [groupDomain(identity), labelDomain(identity)].some((domain) => group === domain || group.endsWith(`.${domain}`))

const annotationName = (identity: Identity): string => `api-approved.${labelDomain(identity)}`
const annotationOf = ({ annotations }: ObjectMeta, identity: Identity): string => annotations?.[annotationName(identity)] ?? ''

/** What is said of an approval, whether it is refused or only noted. */
function describeApproval(approval: Approval, annotation: string, identity: Identity): string {
  const needed = `protected groups must have approval annotation "${annotationName(identity)}"`
  const where = `see https://github.com/${identity.self}/enhancements/pull/1111`
  switch (approval) {
    case 'missing':
      return `${needed}, ${where}`
    case 'invalid':
      return `${needed} with either a URL or a reason starting with "unapproved", ${where}`
    case 'bypassed':
      return `not approved: ${quote(annotation)}`
    case 'approved':
      return `approved in ${annotation}`
  }
}

/** An approval that stays as it is is not questioned again. */
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

/** What the status of a definition says of its approval; undefined where none is needed. */
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
