// Custom kinds in the domains of the system itself: their author says where they were approved, or that they were not.

import { type FieldError, invalid, required } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import type { ObjectMeta } from '../../api/object.js'
import { noErrors } from '../../api/validation/fields.js'
import { parseUrl } from '../../api/validation/parse-url.js'
import { groupDomain, labelDomain } from '../core/pod-spec/own-domains.js'

type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid'

function approvalOf(annotation: string): Approval {
  if (annotation === '') return 'missing'
  if (annotation.startsWith('unapproved')) return 'bypassed'
  const url = parseUrl(annotation)
  return url !== undefined && url.scheme !== '' && url.host !== '' ? 'approved' : 'invalid'
}

/** An approval that stays as it is is not questioned again. */
export function validateApproval(
  group: string,
  { next, old }: { readonly next: ObjectMeta; readonly old?: ObjectMeta | undefined },
  identity: Identity,
): readonly FieldError[] {
  const isOwn = [groupDomain(identity), labelDomain(identity)].some((domain) => group === domain || group.endsWith(`.${domain}`))
  if (!isOwn) return noErrors
  const name = `api-approved.${labelDomain(identity)}`
  const read = ({ annotations }: ObjectMeta): string => annotations?.[name] ?? ''
  const approval = approvalOf(read(next))
  if (old !== undefined && approvalOf(read(old)) === approval) return noErrors
  const field = `metadata.annotations[${name}]`
  const needed = `protected groups must have approval annotation "${name}"`
  const where = `see https://github.com/${identity.self}/enhancements/pull/1111`
  if (approval === 'missing') return [required(field, `${needed}, ${where}`)]
  if (approval !== 'invalid') return noErrors
  return [invalid(field, read(next), `${needed} with either a URL or a reason starting with "unapproved", ${where}`)]
}
