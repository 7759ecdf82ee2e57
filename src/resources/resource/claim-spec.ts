// The spec of a claim, which stands in claims and in their templates.

import { type FieldError, notSupported, required } from '../../api/field-error.js'
import { checkText } from '../../api/validation/fields.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import type { ResourceClaimParametersReference, ResourceClaimSpec } from './v1alpha1.schema.js'

const allocationModes = ['Immediate', 'WaitForFirstConsumer']

/** Resources are allocated when a pod wants them, unless the claim says otherwise. */
export const withAllocationMode = (spec: ResourceClaimSpec): ResourceClaimSpec =>
  (spec.allocationMode ?? '') === '' ? { ...spec, allocationMode: 'WaitForFirstConsumer' } : spec

export function validateClaimSpec(spec: ResourceClaimSpec, field: string): readonly FieldError[] {
  const { resourceClassName = '', parametersRef, allocationMode = '' } = spec
  const errors = [...checkText(resourceClassName, `${field}.resourceClassName`, dnsSubdomain)]
  if (parametersRef !== undefined) errors.push(...validateParametersReference(parametersRef, `${field}.parametersRef`))
  if (!allocationModes.includes(allocationMode)) errors.push(notSupported(`${field}.allocationMode`, allocationMode, allocationModes))
  return errors
}

export function validateParametersReference(reference: ResourceClaimParametersReference, field: string): readonly FieldError[] {
  const { kind = '', name = '' } = reference
  return [...(kind === '' ? [required(`${field}.kind`)] : []), ...(name === '' ? [required(`${field}.name`)] : [])]
}
