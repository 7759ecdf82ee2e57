// Validation of the spec of PersistentVolumeClaims and of claim templates.

import { type FieldError, invalid, required } from '../../../api/field-error.js'
import { checkOptional, checkOptionalChoice, checkPresent, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { validateLabelSelector } from '../../../api/validation/label-selector.js'
import { dnsLabel, dnsSubdomain } from '../../../api/validation/name-formats.js'
import type { PodRules } from '../pod-spec/pod-names.js'
import { checkQuantityPositive } from '../pod-spec/resource-requirements.js'
import type { PersistentVolumeClaimSpec, TypedObjectReference } from '../v1.schema.js'
import { validateAccessModes, volumeModes } from './volume-access-modes.js'

export function validateClaimSpec(
  spec: PersistentVolumeClaimSpec,
  field: string,
  { gates }: Pick<PodRules, 'gates'>,
): readonly FieldError[] {
  const { accessModes = [], selector, resources, storageClassName = '', volumeMode } = spec
  return joined(
    accessModes.length === 0 ? [required(`${field}.accessModes`, 'at least 1 access mode is required')] : noErrors,
    validateLabelSelector(selector, `${field}.selector`),
    validateAccessModes(accessModes, `${field}.accessModes`, gates),
    validateSize(resources?.requests?.['storage'], `${field}.resources[storage]`),
    storageClassName === '' ? noErrors : checkText(storageClassName, `${field}.storageClassName`, dnsSubdomain),
    checkOptionalChoice(volumeMode, `${field}.volumeMode`, volumeModes),
    validateSources(spec, field),
  )
}

const validateSize = (size: string | undefined, field: string): readonly FieldError[] =>
  size === undefined ? [required(field)] : checkQuantityPositive(size, field)

/** Validates dataSource and dataSourceRef; if both are set, they must agree and have no namespace. */
function validateSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, field: string): readonly FieldError[] {
  return joined(
    checkOptional(dataSource, `${field}.dataSource`, validateSource),
    checkOptional(dataSourceRef, `${field}.dataSourceRef`, validateSource),
    validateAgreement({ dataSource, dataSourceRef }, field),
  )
}

function validateSource({ apiGroup = '', kind = '', name, namespace = '' }: TypedObjectReference, field: string): readonly FieldError[] {
  const problem = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
  return joined(
    checkPresent(name, `${field}.name`),
    checkPresent(kind, `${field}.kind`),
    apiGroup === '' && kind !== 'PersistentVolumeClaim' ? [invalid(field, kind, problem)] : noErrors,
    namespace === '' ? noErrors : checkText(namespace, `${field}.namespace`, dnsLabel),
  )
}

type Sources = { readonly [K in 'dataSource' | 'dataSourceRef']: PersistentVolumeClaimSpec[K] | undefined }

function validateAgreement({ dataSource, dataSourceRef }: Sources, field: string): readonly FieldError[] {
  if (dataSource === undefined || dataSourceRef === undefined) return noErrors
  if ((dataSourceRef.namespace ?? '') !== '') {
    return [invalid(field, `${field}.dataSource`, 'may not be specified when dataSourceRef.namespace is specified')]
  }
  const isSame = (['apiGroup', 'kind', 'name'] as const).every((name) => dataSource[name] === dataSourceRef[name])
  return isSame ? noErrors : [invalid(field, `${field}.dataSource`, 'must match dataSourceRef')]
}
